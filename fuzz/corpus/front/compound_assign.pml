int x, a[3];
init {
  x += 1;
  a[2] -= x + 1;
  x <<= 2
}
