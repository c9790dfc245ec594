byte s;
init {
  for (byte i : 0 .. 9) {
    s = s + i
  }
}
