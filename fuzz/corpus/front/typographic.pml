byte x;
init {
  printf(“hello\n”);
  x = 3 – 1;
  x ≤ 3 → x = 2;
  x = ‘a’;
  x = 1 + 2
}
