/* random model, seed 17 */
byte g0 = 1;
int g1;
bool g2;
chan q0 = [1] of { byte };

inline step(v, w) {
  skip;
  d_step {
    g2 = (g1 == 1);
    {
      g2++
    };
    g2--;
    g2++
  }
}

proctype P(byte p0) priority 3 {
  q0?g0
  {
    q0?1
    q0!1
  } unless !(p0 <= 1)
  step(p0, 0)
  d_step {
    q0!p0
    if
    :: nempty(q0) ->
      q0?_
    :: else ->
      g1 = (1 - (g0 % 3)) % 3
    fi
  }
  q0?_
}

active proctype Q() priority 3 {
  byte x0
  byte x1 = 1
  run P(1)
  run P(g0 % 2) priority 3
  if
  :: g0 = (g0 + (g0 / 1)) % 2 ->
    if
    :: (x1 == 0 -> x0 < 2 : 2 > g2) ->
      q0!len(q0) % 2
    :: else
    fi
  :: (x1 == 0) ->
    q0!1
  fi unless (x1 >= 0 -> g0 < 1 : x0 <= 1)
  end_wait: do
  :: 1 > x0 ->
    _priority = 3
    step(g0, 0)
  :: q0?eval(x1) ->
    g0 = 1
  od
  x1 = (x0 + g0) % 3
}
never {
T0:
    do
    :: (g1 == 1) -> goto accept_here
    :: true
    od;
accept_here:
    do
    :: enabled(0)
    od
}
