byte x, y;
init {
  x = (1 + 2;
  y = ((1 + 2) * 3;
  if :: (x == 1 -> y = 2 fi;
  assert(x == 1;
  run P(1, 2;
  x = 1
}
