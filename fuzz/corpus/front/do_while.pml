byte x;
init {
  do {
    x = x + 1
  } while (x < 3);
  x = 0
}
