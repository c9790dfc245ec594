byte x, y;
init {
  ++x;
  y = x++;
  y = (x--) + 1;
  x = 0
}
