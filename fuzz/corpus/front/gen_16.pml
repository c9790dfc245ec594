/* random model, seed 16 */
#define K 3
#define INC(v) v = (v + 1) % K
#define IS(v, w) ((v) == (w))
mtype = { red, green };
typedef T {
    byte f;
    short e[2];
};
T s0;
byte g0;
pid g1;
byte g2;
byte a0[2];
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan q0 = [2] of { int, pid };
chan c0 = [0] of { byte };
chan c1 = [0] of { byte };
chan q1 = [2] of { mtype };

inline step() {
  if
  :: nempty(q0) ->
    q0?_, _
  :: else
  fi
}
inline next(v) {
    return (v + 1) % 2
}

active proctype P() {
  byte x0 = 1;
  chan r0 = q0;
  do
  :: d_step {
      q0?_, _;
      if
      :: s0.e[0] != 1 ->
        a0[1] = next(1)
      :: else ->
        gx = next(a0[s0.f % 2])
      fi;
      INC(gx)
    } ->
    1 > g1
  :: q0!a0[1] % 2, 0 ->
    q0?s0.e[0], x0;
    select (g0 : 1 .. 2)
  :: IS(g0, 0) ->
    break
  od
}
