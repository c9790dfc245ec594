byte x, y;
init {
  x = 1 y = 2;
  if :: x -> y = 1 fi y = 3;
  x = y z = 3
}
