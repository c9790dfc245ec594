/* random model, seed 34 */
#define K 2
#define INC(v) v = (v + 1) % K
#define IS(v, w) ((v) == (w))
typedef Msg { byte x; byte y };
Msg m0;
byte g0;
bool g1;
bool a0[2];
chan q0 = [1] of { byte };
chan q1 = [1] of { byte, byte };
chan qs = [2] of { Msg };

active proctype P() {
  byte x0 = 1
  chan lc = [1] of { byte }
  q1?m0.y, _
  end_wait: do
  :: g0 = 2 % 2 ->
    bit b0 = 0
    g1 = false
  :: byte b1 = 1 ->
    L0: lc?m0.y
    // a remark; with a separator
    INC(x0)
  :: else -> break
  od
  qs!m0
  lc!_pid % 2
  lc?1
  L1: INC(x0)
}

active proctype Q() {
  Msg lm
  xr q0
  end_wait: do
  :: (!(IS(lm.x, 1))) -> q0?eval(lm.y)
  :: byte b0 = 0
  :: else -> INC(lm.x)
  od
  m0.x = (m0.x + 1) % 2
  q0?_
  qs?lm
  L0: INC(m0.y)
  accept_1: a0[lm.x % 2] = (lm.y <= 1)
}

active proctype R() {
  byte x0 = 1
  bool x1 = false
  int la[2]
  chan lc = [1] of { byte }
  Msg lm
  xs q0
  lc!lm.x
  lc?g0
  do
  :: (lm.y == x1) -> q0!m0.x % 2
  :: else -> x1 = lm.y & 1
  od
  q1!0, 1
  L0: m0.x = _pid % 2
}
notrace {
    q1!1, _;
    q1!_, _
}
