byte x, y;
init {
  if (x == 0) {
    y = 1
  } else if (x == 1) {
    y = 2
  } else {
    y = 3
  }
  y = 4
}
