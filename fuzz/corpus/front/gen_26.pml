/* random model, seed 26 */
typedef T {
    byte f;
    bit b;
};
T s0;
show byte g0;
local pid g1;
short a0[3] = 1;
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan c0 = [0] of { byte };
chan c1 = [0] of { byte };

proctype P(bit p0; int p1) {
  bool x0
  do
  :: ((s0.f * g0) >= x0) ->
    timeout;
    L0: x0++
  :: s0.b >= 1 ->
    c0!3 % 2
  od
  accept_1:
}

active proctype Q() {
  byte x0
  do
  :: g1 != 0 ->
    s0.b++
  :: (P:p0 == 0) ->
    x0 = s0.b % 2
    L0: x0 = (x0 + 1) % 2
  :: x0 >= 0 ->
    break
  :: else ->
    break
  :: c1!1
  od
  L1: g0 = (g0 + 1) % 2
}

active proctype R() {
  byte x0
  short x1
  run P(0, 1)
  run P((1 % 3) % 2, _pid % 2)
#if 1 + 1 == 2
  x1 = s0.b % 2
#else
  gx = 1
#endif
  skip
  if
  :: c1?gx ->
    s0.b = g0 & 1
    L0: c1!1
  :: gx != 1 ->
    {
      byte b0 = s0.f
      s0.b--
    }
    bit b0 = 0
  :: else
  fi
  c0?x0
}
