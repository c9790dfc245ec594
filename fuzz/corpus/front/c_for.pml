byte i, s;
init {
  for (i = 0; i < 10; i++) {
    s = s + i
  }
  s = 0
}
