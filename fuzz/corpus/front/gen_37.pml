/* random model, seed 37 */
mtype = { red, green, blue };
byte g0 = 1;
mtype g1 = green;
byte g2;
byte a0[2];
chan q0 = [1] of { byte, mtype };

inline step(v, w) {
  atomic {
    v = (len(q0) + (v ^ a0[g0 % 2])) % 2;
    d_step {
      v = (v + 1) % 2;
      assert(w < 5);
      g1 = g1;
      g0 = (2 == len(q0) >= w) % 3
    };
    assert(g0 < 5)
  }
}

active proctype P() provided (2 > g0) {
  byte x0;
  end_wait: do
  :: g2 == 0 -> x0 = (x0 + 1) % 3
  :: (g0 <= 0)
  :: 2 > a0[g0 % 2] -> break
  od;
  L0: a0[g2 % 2] = x0 % 2
}

active proctype Q() provided (g2 >= 0) {
  progress0: q0!g0, blue;
  atomic {
    skip;
    q0!g2, green;
    q0!1, blue
  };
  g1 = blue;
  goto progress0
}

active proctype R() provided (g2 != 1) {
  bit x0;
  bit la[2];
  skip;
  end_wait: do
  :: (x0 < x0) -> assert((a0[0] < 1 || true) || g1 == red)
  :: q0!g0, green -> break
  :: g0 >= 1 -> break
  od;
  L0: la[1] = la[1] & 1;
  L1:
}
