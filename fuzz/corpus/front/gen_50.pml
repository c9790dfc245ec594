/* random model, seed 50 */
#define K 2
#define INC(v) v = (v + 1) % K
mtype = { red, green };
byte g0 = 1;
bit g1;
bit g2;
bit a0[2] = 1;
short a1[2] = 1;
chan q0 = [1] of { mtype, byte };
chan c0 = [0] of { bit, byte };

active proctype P() {
  byte x0
  bool x1 = false
  do
  :: q0?_(_) ->
    (a1[g2 % 2] < 1)
    accept_0: INC(g0)
  :: (g0 >= 1)
  :: else -> x1 = (!g1)
  od
  end_wait: do
  :: a1[1] >= 1 -> x0 = 3 % 2; g1 = true; goto accept_0
  :: !(a0[1]) -> break
  od
  c0?0, 0
}

active proctype Q() {
  do
  :: g0 != 1 ->
    progress0: do
    :: ((g0 % 2) != 3) ->
      d_step {
        1 > g1
        g2++
      }
      g1 = false
    :: !a0[g0 % 2]
    od
  :: g0 = 1 ->
    d_step {
      g2 = 0
      a1[g1 % 2] = g1 % 2
    }
  :: q0!red, g0
  :: c0!0, 1
  od
  L1: g0 = (g0 + 1) % 2
}
never wrong {
    do
    :: (g0 == 0)
    :: (g0 < 2) -> break
    od
}
