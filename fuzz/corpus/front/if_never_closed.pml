byte x;
active proctype miss() {
  if
  :: x == 0 -> x = 1
  :: else -> x = 2
  x = 3
}
