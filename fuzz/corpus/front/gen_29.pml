/* random model, seed 29 */
#define K 2
#define INC(v) v = (v + 1) % K
#define IS(v, w) ((v) == (w))
typedef T { byte f = 1 };
T s0;
byte g0;
byte g1 = 1;
chan q0 = [1] of { short, byte };
chan c0 = [0] of { byte, byte };
chan c1 = [0] of { byte, byte };
chan q1 = [1] of { byte };
chan qc = [0] of { chan };

active proctype P() {
  byte x0;
  do
  :: if
    :: x0 >= 1
    :: g1 < 2 ->
      L0: INC(s0.f)
    fi ->
    (~1 > s0.f)
  :: x0 < 1
  od;
  c0!1, 1;
  qc!q0;
  c1?_, _;
  end_wait: do
  :: g1 <= 0 -> q0!0 % 2, g0
  :: q0?_, g0 -> s0.f = len(c0) % 2
  :: g1 >= 1 -> break
  od
}

active proctype Q() {
  byte x0;
  bit x1 = 1;
  chan lc = [1] of { short, byte };
  chan r0 = q0;
  xs q1;
  xr q1;
  end_wait: do
  :: c1?0, g0 ->
    L0: x0 = 1
  :: q0!~1 % 2, g1 ->
    if
    :: (IS(s0.f, 1) -> s0.f <= 1 : g0 >= 1) ->
      if
      :: (x0 >= 1)
      :: !(IS(s0.f, 0)) ->
        qc?r0;
        {
          x1 = false;
          g1 = (g1 + 1) % 2
        }
      :: else
      fi
    :: do
      :: break
      :: g0 == 1 -> INC(s0.f)
      od ->
      skip
    :: else
    fi;
    lc!-K % 2, 1
  od;
  g1 = x1 % 2
}
