byte x;
init {
  [] x;
  <> x;
  x -> x = 1
}
