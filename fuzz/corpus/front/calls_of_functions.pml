byte x;
init {
  sleep(1);
  x = max(x, 2);
  foo(x);
  x = 1
}
