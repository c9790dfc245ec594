int x;
int *p;
init {
  p = &x;
  x = *p
}
