byte x;
init {
  printf('hello\n');
  printf(x);
  printf("a" "b");
  x = "text"
}
