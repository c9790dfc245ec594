byte x;
init {
  switch (x) {
  case 1: x = 2; break;
  default: x = 3
  }
  x = 0
}
