/* random model, seed 5 */
mtype = { red, green };
byte g0;
bit g1;
mtype g2 = green;
short a0[3] = 1;
chan c0 = [0] of { short };
chan c1 = [0] of { short };

inline next(v) {
    return (v + 1) % 2
}

active proctype P() {
  mtype x0 = green;
  bit x1 = 1;
  chan lc = [0] of { short };
  end0: c1?a0[0];
  end_wait: do
  :: x0 != red ->
    {
      d_step {
        g1 = 0;
        g0 = next(g0);
        if
        :: x1 < 1 ->
          g0 = next(0)
        :: g0 <= 0 ->
          printf("%e; %%\n", x0)
        :: else
        fi;
        printm(g2)
      }
    };
    c0!g0 % 2
  :: c0?eval((2 / 3))
  :: c1!0 % 2
  :: c1?_
  od
}
