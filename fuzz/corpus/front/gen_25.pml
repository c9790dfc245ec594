/* random model, seed 25 */
#define K 2
#define IS(v, w) ((v) == (w))
mtype = { red, green };
byte g0;
byte g1 = 1;
byte a0[3];
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif

proctype P(bit p0) {
  byte x0;
  bool x1;
  end_wait: do
  :: atomic {
      gx = g0 % 2;
      p0 = 1 & 1
    } ->
    L0: gx = (gx + 1) % 2
  :: d_step {
      x0 = 1;
      int b0 = g1;
      a0[gx % 3] = 1
    }
  :: (g1 == 0) -> p0--; p0--
  :: else -> p0 = g0 & 1
  od;
  x0 = (x0 + 1) % 3
}

active proctype Q() {
  byte x0 = 1;
  bool x1 = true;
  run P(1);
  if
  :: if
    :: gx = 1 ->
      end0: x1++
    :: (x0 < 1) ->
      {
        x0 = K % 3
      }
    fi ->
    x0 = (x0 + 1) % 3
  :: (x0 < 1) ->
    L1: x1 = true
  :: (g1 == 0) ->
    bit b0;
    gx = 0
  :: else
  fi;
  run P((x0 + 2) % 2);
  run P(_pid % 2);
  if
  :: _nr_pr < 3 -> g0 = run P(0)
  :: else
  fi
}
