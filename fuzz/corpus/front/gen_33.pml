/* random model, seed 33 */
mtype { red, green };
typedef Msg { byte x; byte y };
Msg m0;
typedef T { byte f };
T s0;
byte g0 = 1;
byte g1 = 1;
int a0[3];
chan q0 = [2] of { byte };
chan c0 = [0] of { byte };
chan c1 = [0] of { byte };
chan qa[2] = [1] of { short, pid };
chan qs = [2] of { Msg };

inline step(v, w) {
  skip;
  atomic {
    s0.f = ((m0.y | v) & v) % 2;
    s0.f = 1
  }
}
inline next(v) {
    return (v + 1) % 2
}

proctype P(int p0) {
  bit la[2] = { 1, 1 };
  Msg lm;
  atomic {
    c0!lm.x;
    goto L0
  };
  goto L0;
  L0: la[m0.x % 2] = lm.x & 1
}

active proctype Q() {
  byte x0;
  run P((0 | g1) % 2);
  end_wait: do
  :: !(s0.f >= 0) ->
    do
    :: q0!1 -> goto accept_0
    :: (g0 <= 1) -> goto accept_0
    :: else -> break
    od
  :: c0?_ ->
    do
    :: x0 < 1 ->
      s0.f = ((m0.x * 3) / 2) % 2;
      accept_0: c0!1
    :: s0.f < 1 -> a0[1] = (_pid * g0) % 2
    od
  :: a0[0] <= 1 -> c0!g0 % 2
  :: else -> break
  :: c1?m0.x
  :: qa[0]!!m0.x % 2, 0
  :: qs!m0
  od
}
