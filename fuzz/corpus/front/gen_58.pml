/* random model, seed 58 */
mtype = { red, green, blue };
byte g0 = 1;
pid g1;
chan c0 = [0] of { mtype, mtype };

proctype P() {
    short x0;
    pid x1 = 1;
    x0 = g1 % 2;
    byte b0 = g0;
    accept_0: if
    :: g1 != 0
    :: c0?_(_) -> assert(b0 < 5)
    :: else -> b0 = g0 % 2
    fi;
    int b1
}

active proctype Q() {
    run P();
    L0: c0!blue(blue);
    run P();
    g1 = 1 % 3;
    g1 = 0;
    g1 = g0 % 3
}
