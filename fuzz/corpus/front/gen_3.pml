/* random model, seed 3 */
byte g0;
bool g1;
byte g2;
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan c0 = [0] of { byte };
chan qa[2] = [0] of { byte, byte };

inline step() {
    if
    :: (2 > g1 || g2 <= 0);
        skip
    :: else
    :: c0?_;
        if
        :: ((g1 -> 3 : g2) <= gx);
            assert(gx < 1 || g2 < 1)
        :: gx <= 0;
            g1++
        :: else;
            assert((g0 < g0) || g1)
        fi;
        gx = 0 % 2
    fi
}
inline next(v) {
    return (v + 1) % 2
}

init {
    byte x0;
    chan lc = [0] of { byte };
    do
    :: c0!1;
        L0: g1--
    :: g0 == 1;
        {
            qa[1]?gx, x0;
            {
                do
                :: c0?_;
                    step();
                    select (gx : 1 .. 1)
                :: qa[g0 % 2]!gx, 1;
                    gx = x0 % 2
                :: else;
                    break
                od
            } unless qa[1]?_, g2;
            x0 = (g1 * 3) % 3
        } unless {
            qa[1]?1, g2
        };
        qa[0]?0, g0
    :: else;
        break
    od
}
trace {
    do
    :: c0!_
    :: c0?_
    od
}
