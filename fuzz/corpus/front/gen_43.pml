/* random model, seed 43 */
#define K 3
#define IS(v, w) ((v) == (w))
mtype = { red, green, blue };
mtype:fruit = { apple, pear };
mtype = { black };
byte g0;
mtype:fruit g1 = pear;
byte g2;
short a0[2] = 1;
chan q0 = [1] of { byte, mtype };
chan q2 = [1] of { byte, mtype };
chan qc = [1] of { byte, chan };

proctype P() {
  chan r0 = q0
  q2?a0[0], green
  q2!1, red
  d_step {
    g1 = pear
    g0 = 1
    a0[g2 % 2] = len(q0) % 2
  }
  accept_0: g1 = g1
  L1: a0[1] = (a0[g0 % 2] >= 1 -> g2 : g0) % 2
}

active proctype Q() {
  byte x0
  mtype x1 = red
  run P()
  run P()
  a0[x0 % 2] = g0 % 2
  goto L1
  L0: g0 = (g0 + 1) % 2
  L1:
}
trace {
    q0!1, _;
    do
    :: q0!_, _
    :: q0?_, _
    od
}
