byte x;
init {
  x <> 3;
  x != 3
}
