byte x;
chan q = [1] of { byte };
proctype P(byte k) { skip }
init {
  byte p = run P(1);
  run P(1) && x;
  !run P(2);
  run P(run P(3));
  q!run P(4);
  x = run P(5) + 1;
  (run P(6))
}
