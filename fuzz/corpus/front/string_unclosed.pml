byte x;
init {
  printf("hello\n);
  x = 1;
  printf("x is %d, x);
  x = 'a
}
