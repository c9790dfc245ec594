/* random model, seed 6 */
#define K 3
#define IS(v, w) ((v) == (w))
mtype = { red, green, blue };
byte g0;
unsigned g1 : 1;
bool a0[2];
chan q0 = [2] of { byte };
chan c0 = [0] of { byte, mtype };

active [2] D_proctype DP() {
  pid x0 = 1;
  int x1;
  end_wait: do
  :: q0?<_> ->
    L0: atomic {
      c0?_, _;
      g1 = 0
    }
  :: c0!0, green -> a0[1] = true; g1--
  od
}

active proctype Q() {
  mtype x0 = blue;
  short x1 = 1;
  do
  :: q0!1
  :: (DP:x0 == 1) -> g1--
  :: else -> break
  :: c0!1, blue
  od;
  L0: assert(x0 == red || g1 == 1);
  L1: g0 = 1
}
never wrong {
    do
    :: Q@L0
    :: (Q[2]:x1 == 1) -> break
    od
}
