/* random model, seed 10 */
typedef Msg { byte x; byte y };
Msg m0;
byte g0;
bit g1 = 1;
bit g2 = 1;
chan q0 = [1] of { bit, bit };
chan c0 = [0] of { byte };
chan qs = [1] of { Msg };

proctype P(bit p0; chan p1) {
  byte x0;
  chan r0 = q0;
  Msg lm;
  do
  :: m0.x < 1
  :: q0?_, 1 ->
    q0?lm.y, 1;
    assert(p0 <= 1 || lm.y == 1)
  :: qs?m0
  od;
  L0: lm.y = 0;
  progress1: g2 = (g1)
}

active proctype Q() {
  chan r0 = q0;
  L0: g2 = 0;
  L1: do
  :: c0!1 ->
    q0!!0, 1;
    r0!0, 0
  :: (m0.y >= 0) ->
    g1++;
    d_step {
      qs!m0;
      bit b0 = 1;
      b0 = true;
      if
      :: nfull(r0) ->
        r0!1, 0
      :: else ->
        m0.y = (m0.y + 1) % 2
      fi
    }
  :: (g2 >= 0 -> m0.y <= 1 : g0 == 0) ->
    int b0
  od
}

active proctype R() {
  chan r0 = q0;
  Msg lm;
  run P(1, q0);
  end_wait: do
  :: q0!!1, 1 ->
    do
    :: r0?[_, _] ->
      g0 = 3 % 2
    :: q0!!1, 0 ->
      q0!0, 1;
      for (m0 in qs) {
        lm.y = (lm.y + 1) % 2
      }
    od
  :: c0?1 ->
    accept_0: g0 = 0;
    lm.y = g0 % 2
  :: qs!lm
  od;
  accept_1: lm.y = (lm.y + 1) % 2
}
