/* random model, seed 55 */
byte g0;
byte g1 = 1;
bit a0[2] = 1;
chan q0 = [1] of { short };
chan c0 = [0] of { byte, pid };
chan qa[2] = [1] of { byte, byte };

inline step(v, w) {
  d_step {
    g1 = 1;
    g0 = (2 < 2 != len(qa[v % 2])) % 2
  }
}
inline next(v) {
    return (v + 1) % 2
}

active proctype P() {
  byte x0;
  bool x1;
  chan r0 = q0;
  x1++;
  d_step {
    g0 = 1;
    g1 = (g1 + 1) % 2;
    x0 = 2 % 2;
    x0 = next(g0)
  }
}

active [2] proctype Q() {
  byte x0;
  end_wait: do
  :: qa[0]?[eval(3), 0] -> step(g0, g1)
  :: nempty(qa[g1 % 2])
  :: q0?_
  :: c0!len(qa[0]) % 2, 1
  od
}

init {
  byte x0;
  bool x1 = true;
  int la[2];
  chan r0 = q0;
  end_wait: do
  :: (r0?[la[0]])
  :: la[g0 % 2] < 2 ->
    if
    :: !(x1 >= 1) -> x1++
    fi
  :: g0 != 0 -> break
  :: q0!_pid % 2
  :: c0?la[0], g0
  od;
  x0 = 1
}
