byte x, y;
chan q = [1] of { byte };
init {
  x == 1
  && y == 2;
  x = 1
    + 2;
  q
  ?x;
  x = (1
    + 2)
}
