/* random model, seed 53 */
mtype { red, green };
byte g0;
mtype g1;
bit g2 = 1;
byte a0[2];
chan c0 = [0] of { mtype };

active [2] proctype P() {
  g2++;
  atomic {
    printm(g1);
    c0?_
  };
  c0!red;
  g2 = 0;
  if
  :: c0?_
  fi
}

active proctype Q() {
  do
  :: c0!green ->
    g1 = red;
    byte b0
  :: !(a0[1] <= 1) ->
    if
    :: a0[0] <= 0 -> a0[0] = 1; b0 = (b0 + 1) % 2
    :: byte b1 = b0 ->
      break
    fi
  :: else -> break
  od;
  assert(b0 < 5)
}

active D_proctype R() {
  assert(a0[g2 % 2] < 5);
  end_wait: do
  :: 1 > a0[g2 % 2] ->
    atomic {
      byte b0 = a0[1];
      b0 = (b0 + 1) % 2
    }
  :: else -> break
  od
}
