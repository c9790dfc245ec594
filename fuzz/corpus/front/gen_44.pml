/* random model, seed 44 */
mtype = { red, green, blue };
byte g0;
byte g1 = 1;
pid g2;
chan c0 = [0] of { mtype };
chan qa[2] = [0] of { mtype };
chan qc = [0] of { byte, chan };

proctype P(chan p0) {
  byte x0 = 1;
  short x1;
  L0: do
  :: g1 < 1 ->
    x0 = 1;
    if
    :: g2 >= 0 ->
      x0 = 1
    :: c0?blue ->
      qa[g2 % 2]!green
    :: qc?eval((0 * g0)), _ ->
      g0 = 1;
      g1 = (g0 + _pid) % 2
    fi
  :: break
  od;
  if
  :: (x1 != 1) ->
    p0?_;
    assert(g0 == 0 || g0 <= 1)
  :: if
    :: atomic {
        qc!0, c0;
        skip;
        skip;
        qa[1]?blue
      }
    fi ->
    qc!g2, c0;
    g0 = 1 % 2
  :: (g0 < 1) ->
    g1 = 1;
    goto L0
  :: else
  fi
}

active [2] proctype Q() {
  byte x0;
  qc!(x0 + 3) % 2, c0;
  run P(c0);
  qa[g0 % 2]?_;
  qa[1]!blue;
  goto L0;
  c0!red;
  L0: g0 = (g0 + 1) % 2
}
