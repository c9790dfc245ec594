byte x, y;
init {
  if (x == 0) y = 1;
  y = 4
}
