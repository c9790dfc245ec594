proctype P() { skip }
init {
  run P;
  P();
  run P()
}
