byte run;
chan len = [1] of { byte };
proctype init_() { byte of; skip }
init {
  byte x;
  x = timeout2;
  active = 1
}
