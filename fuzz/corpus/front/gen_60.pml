/* random model, seed 60 */
#define K 3
typedef Msg { byte x; int y };
Msg m0;
byte g0 = 1;
bool g1;
byte g2;
chan q0 = [1] of { byte };
chan qs = [1] of { Msg };
chan qc = [1] of { chan };

inline step() {
    if
    :: atomic {
            g0 = ((m0.x % 1) + g0) % 2;
            assert(g2 < 5)
        } ->
        g0 = 0
    :: else
    :: (1 > g2 && g1) -> g1++
    :: q0!g2 -> m0.y = 0 % 2
    fi;
    g1 = (g2 != 0)
}

proctype P(byte p0; byte p1) {
    Msg lm;
    do
    :: empty(q0) ->
        L0: (empty(qc) && g0 == 0);
        g1
    :: 2 > g2 ->
        atomic {
            qc!q0;
            assert(g2 < 5);
            step()
        };
        q0!(1 + p0) % 2
    od;
    m0.y = p0 % 2
}

active proctype Q() {
    int x0 = 1;
    byte x1;
    chan r0 = q0;
    Msg lm;
    atomic {
        run P(_pid % 2, (g2 * 2) % 2);
        run P(0, g1 % 2)
    };
    if
    :: (r0??[m0.x] || !g1) ->
        do
        :: if
            :: if
                :: lm.y == 0 ->
                    accept_0: g1 = 0
                fi ->
                L1: m0.y = lm.x % 2
            :: (m0.x > len(qc)) ->
                atomic {
                    if
                    :: _nr_pr < 3 -> run P(1 % 2, lm.x % 2)
                    :: else
                    fi;
                    assert(m0.x == 1 || g2 <= 0)
                }
            fi ->
            g2 = 0
        :: x0 == 0 -> q0!!(g0 + g0) % 2
        od;
        q0?<x0>
    :: else -> lm.x = (lm.x + 1) % 2
    fi;
    assert(g0 < 5);
    qs!m0;
    qc!q0
}
