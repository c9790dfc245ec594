byte x;
init {
  x := 1;
  byte y := 2;
  x = y
}
