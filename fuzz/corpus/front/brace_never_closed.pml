byte x;
proctype P() {
  atomic {
    x = 1;
    x = 2
}

init {
  run P()
}
