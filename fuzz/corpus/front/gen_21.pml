/* random model, seed 21 */
mtype = { red, green, blue };
byte g0 = 1;
local mtype g1 = red;
local byte g2;
chan q0 = [1] of { mtype };
chan c0 = [0] of { mtype };

active proctype P() {
  pid x0;
  byte i0;
  do
  :: q0?g1 ->
    d_step {
      (nempty(q0) || g1 != red);
      i0 = 0;
      do
      :: i0 < 2 ->
        i0++;
        g0 = (g2 + x0) % 2;
        g0 = g0 % 2
      :: else ->
        break
      od;
      g0 = (g0 + 1) % 2;
      g0 = (3 * 'a') % 2
    }
  :: g0 >= 1 ->
    atomic {
      break
    }
  :: else ->
    break
  od;
  g2 = (g2 + 1) % 2
}

active proctype Q() {
  byte i0;
  do
  :: d_step {
      q0?_;
      i0 = 0;
      do
      :: i0 < 1 ->
        i0++;
        break
      :: else ->
        break
      od;
      g0 = 1;
      g0 = _nr_pr % 2
    } ->
    g0 = (g0 + 1) % 2
  :: (nfull(q0) && g0 != 1)
  :: g0 != 1 ->
    break
  :: q0!!blue
  :: c0!green
  od
}
trace {
    do
    :: q0!_
    :: q0?_
    od
}
never wrong {
T0:
    if
    :: pc_value(0) > 1 -> goto T0
    :: atomic { (g0 < 1) -> assert(!((g0 < 1))) }
    fi;
accept_all:
    skip
}
ltl p0 { eventually []<> (g0 != 1) }
