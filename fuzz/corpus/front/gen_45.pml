/* random model, seed 45 */
byte g0;
bool g1;
chan q0 = [1] of { bit };

proctype P(bit p0) {
  atomic {
    g0 = 0 % 2
    atomic {
      g1 = false
      L0: q0?g1
      L1: q0?_
    }
  }
  end_wait: do
  :: p0
  :: g0 = (g0 + 1) % 2 -> goto L0
  :: else -> break
  od
}

active [2] proctype Q() {
  short x0
  accept_0: assert(g0 < 5)
  g0 = len(q0) % 2
  x0 = 3 % 2
  goto accept_0
  L1: g1 = g0 & 1
}

active proctype R() {
  run P((0 + g1) % 2)
  atomic {
    if
    :: q0?<_> -> g0 = 0
    :: g1 = (g1 != 0) -> g0 = g0 % 2
    :: else
    fi
    if
    :: _nr_pr < 3 -> run P(0)
    :: else
    fi
    L0: g0 = g0 % 2
  }
  (2 > g1)
}
