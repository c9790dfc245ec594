/* random model, seed 59 */
#define K 2
mtype = { red, green };
byte g0;
byte g1;
unsigned g2 : 2;
chan q0 = [2] of { byte };
chan c0 = [0] of { mtype, byte };
chan qa[2] = [1] of { mtype };
chan q1 = [2] of { pid };

inline step(v, w) {
  skip;
  skip;
  if
  :: q0?g0 ->
    d_step {
      g1 = (g1 + 1) % 2;
      assert(v < 5);
      g0 = (g0 + 1) % 2
    }
  :: qa[1]?red ->
    assert(g0 < 5);
    assert(g0 < 5)
  :: else ->
    g1 = (g1 + 1) % 2
  fi
}
inline next(v) {
    return (v + 1) % 2
}

proctype P(byte p0; int p1) {
  mtype x0 = green;
  bit x1;
  byte i0, i1;
  assert(p0 == 0 || x0 == green);
  if
  :: (g2 < 2 || p0 == 0) ->
    for (i0 : 0 .. 0) {
      q0?p0;
      c0!green, 0
    }
  :: qa[x1 % 2]?x0 ->
    d_step {
      1 > g0;
      if
      :: q0?g1
      :: else
      fi;
      for (i1 : 1 .. 1) {
        g0 = (g0 + 1) % 2;
        if
        :: nfull(q1) ->
          q1!1
        :: else
        fi
      };
      select (g1 : 1 .. 1)
    }
  :: else ->
    select (p1 : 1 .. 1)
  fi;
  q1!_pid % 2
}

active proctype Q() {
  byte x0;
  bool x1;
  run P(1, 1);
  run P(0, 1);
  if
  :: q0!x0 ->
    c0?_(g1)
  :: if
    :: do
      :: x1 ->
        g0 = 0
      :: g2 >= 0 ->
        qa[0]!green
      :: (g2 <= 0)
      :: g2 < 2 ->
        break
      od
    :: q1?_ ->
      {
        x0 = (x0 + 1) % 2;
        c0?_(g0)
      } unless {
        c0?_(x0)
      }
    fi
  :: else ->
    g0 = next(1)
  fi;
  end_wait: do
  :: q0!x0 % 2 ->
    c0!red, g0
  :: (3 == (1 < 1 | x1)) ->
    if
    :: _nr_pr < 3 ->
      run P(K % 2, (K | g2) % 2)
    :: else
    fi
  :: q0?g0
  :: else ->
    x1 = true
  od
}
trace {
    do
    :: q1!_ -> q1?_
    od
}
ltl p0 { <> <> (g0 == 0) }
ltl p1 { [] !((g1 <= 1)) }
