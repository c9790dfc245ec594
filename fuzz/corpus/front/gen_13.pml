/* random model, seed 13 */
mtype = { red, green };
typedef T { byte f = 1; bit b };
T s0[2];
byte g0;
bool g1;
mtype g2 = red;
short a0[2 + 1];
short a1[2];
chan q0 = [2] of { mtype, byte };
chan c0 = [0] of { byte };
chan c1 = [0] of { byte };

inline step(v, w) {
    a0[0] = v % 2
}
inline next(v) {
    return (v + 1) % 2
}

proctype P() {
    byte i0
    do
    :: c0!0 ->
        g1 = _pid & 1
    :: !(g1 == 0) ->
        atomic {
            {
                step(g0, 0)
                end1: i0 = 0
                do
                :: i0 < 2 ->
                    i0++;
                    skip
                    end0: c1!g0
                :: else ->
                    break
                od
            } unless {
                (a0[g0 % 3] < 1)
                g0 = 2 % 3 unless {
                    1 > a1[1]
                    s0[g0 % 2].f = 0
                }
                c1!1
            }
            c1?eval(_pid)
        }
    od
    assert(g1 < 5)
}

active proctype Q() {
    xs q0
    xr q0
    run P()
    q0!red, s0[g1 % 2].f
    c0?_
    q0?g2, g0
    run P()
    end_wait: do
    :: (g1 < 1) ->
        s0[g1 % 2].b = true
    :: (0 == (s0[g1 % 2].b + _pid)) ->
        if
        :: 2 > s0[1].f ->
            c1!1
        :: (g2 == green) ->
            end0: end1: break
        fi unless {
            c1!1
            step(s0[0].f, s0[g0 % 2].f)
        }
        g0 = (g0 + 1) % 3
    :: else ->
        break
    od
}
never {
    do
    :: (g2 != red)
    :: (g1) -> break
    od
}
