byte i, s;
init {
  for (i : 0 .. 9)
    s = s + i;
  s = 0
}
