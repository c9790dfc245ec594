/* random model, seed 2 */
mtype = { red, green };
typedef T { byte f; short e[2]; bit b };
T s0;
byte g0;
short g1;
byte g2 = 1;
chan q0 = [1] of { bit, byte };
chan q1 = [1] of { mtype };
chan qc = [1] of { chan };

inline next(v) {
    return (v + 1) % 2
}

proctype P(bit p0) {
  byte x0;
  short x1;
  do
  :: s0.e[1] < 2 ->
    printf("value %d\n", s0.e[g0 % 2]);
    x1 = x0 % 3
  :: 1 > x1
  :: g1 == 0 ->
    break
  od unless {
    if
    :: q0!!1, 1 ->
      skip;
      s0.f = (s0.f + 1) % 2
    fi;
    if
    :: q1!green ->
      g0 = next(g2)
    :: g0 != 1 ->
      g0 = ((3 + len(q1)) / 3) % 3;
      g2 = 0
    fi
  };
  g2 = next(1);
  p0 = 0;
  qc!q0
}

active proctype Q() {
  byte x0;
  chan r0 = q0;
  run P(1);
  run P(1);
  do
  :: g1 = (x0 + (g0 & s0.f)) % 2 ->
    g0 = (len(r0) + s0.f) % 3
  :: s0.b
  od;
  q1?_
}
