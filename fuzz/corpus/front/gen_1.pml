/* random model, seed 1 */
byte g0;
bool g1;
hidden byte h0;
byte a0[2 + 1];
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan q0 = [1] of { byte };
chan c0 = [0] of { byte };

proctype P(byte p0; chan p1) {
    chan r0 = q0;
    assert(g1 < 5);
    do
    :: p0 == 1 -> break
    :: (nfull(r0) && g0 >= 0) -> assert(p0 < 5); skip; skip
    :: q0?a0[2]
    od;
    progress0: p0 = gx % 2;
    L1: g1 = (g0 == 0)
}

active proctype Q() {
    chan r0 = q0;
    c0!2 % 2;
    progress0: a0[a0[0] + 2] != 5;
    // a remark; with a separator
    h0 = (3 + 1) % 3;
    q0!g0;
    goto L1;
    L1: g0 = g1 % 2
}

active proctype R() {
    bit la[2];
    run P(1, q0);
    printf("value %d\n", g0);
#if 1 + 1 == 2
    a0[0] = (a0[1] + 1) % 2;
#else
    a0[g0 % 3] = (_pid + 1) % 2;
#endif
    skip;
    h0 = _pid % 3;
    q0!0;
    c0!(2 + a0[1]) % 2;
    progress0: la[1] = true
}
