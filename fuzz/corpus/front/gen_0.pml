/* random model, seed 0 */
byte g0;
byte g1;
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan c0 = [0] of { byte, int };
chan c1 = [0] of { byte, int };

active [2] proctype P() {
    byte x0 = 1;
    bool x1;
    {
        gx = (gx + 1) % 2
    } unless {
        !x1;
        c0!1 % 2, 1 % 2
    };
    accept_0: printf("value %d\n", gx);
    x1++
}

active proctype Q() {
    progress0: atomic {
        skip;
        gx = (gx + 1) % 2
    };
    end_wait: do
    :: gx >= 0 -> break
    :: else -> g1 = (g1 >= 1 -> (g0 % 2) : _pid) % 2
    :: c0!(gx < 2 -> _nr_pr : _pid) % 2, (gx + 1) % 2
    :: c1!0, (1 * _pid) % 2
    od;
    gx = (gx + 1) % 2
}

active proctype R() {
    int x0 = 1;
    byte x1;
    {
        c0?0, x0;
        L0: gx = g0 % 2;
        end1: x1 = 2 % 3
    } unless {
        x0 == 1;
        c0?gx, _
    };
    end_wait: do
    :: g1 >= 1
    :: else -> break
    :: c1?x0, _
    od;
    x0 = len(c0) % 2
}
