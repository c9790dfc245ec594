/* random model, seed 36 */
mtype = { red, green, blue };
mtype = { black };
typedef T { byte f };
typedef U { T t; byte z };
U s0;
byte g0 = 1;
byte g1;
chan q0 = [1] of { mtype };

active proctype P() {
  byte x0;
  chan r0 = q0;
  byte i0;
  end_wait: do
  :: x0 <= 0
  :: q0?_ ->
    bit b0;
    for (i0 : 1 .. 1) {
      bit b1 = s0.t.f;
      assert(s0.t.f < 5)
    }
  :: else -> break
  od;
  accept_0: g0 = 1;
  L1: s0.z = 1
}

active proctype Q() {
  byte x0;
  byte i0;
  q0!black;
  for (i0 : 0 .. 0) {
    q0?red;
    !(x0 == 1)
  };
  goto L0;
  L0: s0.z = (s0.z + 1) % 2;
  L1: s0.t.f = x0 % 2
}

active proctype R() {
  chan r0 = q0;
  byte i0;
  for (i0 : 0 .. 0) {
    r0?_;
    g1 = (g1 + 1) % 3
  };
  end_wait: do
  :: (s0.z >= 0) -> q0?_
  :: q0!green ->
    L0: s0.t.f = (s0.t.f + 1) % 2;
    L1: break
  :: else -> break
  od
}
