/* random model, seed 54 */
#define K 2
#define IS(v, w) ((v) == (w))
mtype = { red, green };
byte g0;
byte g1;
int g2;
chan q0 = [2] of { byte, byte };
chan c0 = [0] of { mtype, byte };
chan c1 = [0] of { mtype, byte };

proctype P() {
    byte x0;
    L0: g2 = g1 % 3;
    skip;
    if
    :: bit b0 ->
        b0++
    :: q0??g2, g0 -> b0--
    :: else -> x0 = K % 3
    fi
}

active [2] proctype Q() {
    byte x0;
    short x1 = 1;
    do
    :: IS(x0, 1) ->
        if
        :: (2 > (g1 < 2 -> g0 : g1)) -> break
        :: g1 = (2 * 0) % 2 ->
            if
            :: _nr_pr < 3 -> run P()
            :: else
            fi
        fi;
        int b0 = x0
    :: (IS(g0, 0)) -> x1 = (x0 * 2) % 3
    :: c0?_(_) -> select (g0 : 0 .. 2)
    :: b0 != 0 -> break
    od;
    end0: g1 = 1;
    accept_1: g2 = _pid % 3
}

active proctype R() {
    byte x0 = 1;
    run P();
    L0: if
    :: IS(g0, 1) -> c1!green, x0; q0!(g0 % 3) % 2, x0 % 2
    :: (x0 >= 1) ->
        c0!green(0);
        if
        :: _nr_pr < 3 -> run P()
        :: else
        fi
    :: else
    fi;
    end1: true;
    c1?_(g1)
}
ltl p0 { eventually []<> (1 > g1) }
