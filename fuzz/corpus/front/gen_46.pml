/* random model, seed 46 */
// small on purpose: everything is counted
byte g0;
byte g1;
hidden byte h0;
int a0[2 + 1] = { 1, 2, 2 };
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan q0 = [1] of { byte, byte };
chan c0 = [0] of { byte, int, byte };

inline next(v) {
    return (v + 1) % 2
}

active proctype P() {
    bit x0 = 1;
    byte x1 = 1;
    skip;
    gx = next(x1);
    q0?<h0, gx>;
    goto accept_0;
    accept_0: g0 = 1
}

init {
    bit x0 = 1;
    bool x1;
    {
        do
        :: a0[2] < 1 ->
            d_step {
                c0?_, 0, h0;
                gx = 0 % 2
            }
        :: q0!g1, g1 % 2 ->
            end0: g1 = next(0)
        :: else -> g0 = 0
        od
    };
    {
        {
            gx = next(g0);
            g0 = x1 % 2 unless c0?a0[0], _, _
        } unless c0?gx, eval(x1), h0;
        a0[gx % 3] = gx % 2;
        goto end0
    } unless {
        !x1
    };
    gx = next(g1);
    g0 = 0;
    c0!1, (x1 == 0 -> x0 : x1) % 2, 0
}
