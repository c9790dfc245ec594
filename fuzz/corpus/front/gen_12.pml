/* random model, seed 12 */
typedef T {
    byte f = 1;
};
T s0;
byte g0;
short g1;
chan q0 = [2] of { byte };
chan c0 = [0] of { int };

active proctype P() {
  byte x0;
  int x1;
  skip;
  g0 = 0;
  x0 = (x0 + 1) % 3;
  c0!g0 % 2;
  goto progress0;
  q0?eval((1 << 1 | x0));
  progress0: x0 = 0 % 3;
  L1:
}

active proctype Q() {
  byte x0;
  goto progress0;
  do
  :: q0!g0 ->
    progress0: q0?s0.f;
    if
    :: else -> s0.f = (s0.f + 1) % 2
    :: c0?eval(g0) ->
      if
      :: nfull(q0) -> g1 = g0 % 3
      :: else
      :: g1 = s0.f % 3 -> s0.f = 2 % 2
      :: if
        :: !(q0??[g1]) -> g0 = (g0 + 1) % 3; q0!0
        :: q0?g0 -> g0 = 0
        fi ->
        g0 = g0 % 3
      fi
    fi
  :: ((2 + _pid) > (1 / 2)) -> q0!1
  :: q0?[g1]
  od
}
