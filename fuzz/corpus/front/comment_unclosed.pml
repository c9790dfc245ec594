byte x;
init {
  x = 1; /* set x
  x = 2
}
