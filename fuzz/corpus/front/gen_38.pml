/* random model, seed 38 */
// small on purpose: everything is counted
byte g0 = 1;
bit g1 = 1;
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan q0 = [1] of { byte };
chan c0 = [0] of { byte, bit, byte };
chan meet = [0] of { byte };

inline step(v) {
  if
  :: g0 == 1 -> assert(g1 < 5)
  :: false -> gx = (gx + 1) % 2
  :: else ->
    {
      printf("value %d\n", g0)
    }
  fi
}

active proctype P() provided (!g1) {
  byte x0 = 1;
  byte x1;
  q0?g0;
  end_wait: do
  :: x1 >= 1 ->
    d_step {
      gx = 0;
      meet!1;
      skip
    }
  :: false ->
    d_step {
      c0?gx, _, x1;
      g0 = (g0 + 1) % 2;
      bit b0
    }
  :: else -> break
  od;
  g1++;
  L0: g1 = 0;
  progress1: x1 = 0
}

active [2] proctype Q() {
  pid x0;
  g1 <= 1;
  do
  :: (_pid != gx) ->
    {
      break
    } unless {
      x0 >= 0;
      L0: (g1 || x0 < 1)
    }
  :: (1 > g1 -> g0 < 1 : gx <= 1) -> goto L1
  :: q0!(g0 == 1 -> g1 : g0) % 2 -> goto L1
  :: g0 != 1 -> break
  :: c0?x0, _, g0
  od;
  g0 = (g0 + (x0 * x0)) % 2;
  L1: gx = 3 % 2
}

init {
  {
    goto accept_0
  } unless c0?_, 1, 0;
  end_wait: do
  :: gx == 0 -> printf("here :: -> ; done\n")
  :: g1 == 1
  :: else -> break
  :: c0!1, 0, 0
  od;
  accept_0:
}
