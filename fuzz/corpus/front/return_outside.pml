byte x;
init {
  x = 1;
  return x
}
