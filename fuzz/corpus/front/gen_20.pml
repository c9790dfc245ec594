/* random model, seed 20 */
typedef T { byte f = 1; bit b };
typedef U { T t; byte z };
U s0;
byte g0;
show byte g1;
show int g2 = 1;
int a0[2 + 1];
chan q0 = [1] of { bit };
chan c0 = [0] of { byte };

proctype P() {
    byte i0, i1;
    end_wait: do
    :: s0.z != 1;
        accept_0: s0.t.b = 0
    :: atomic {
            i0 = 0;
            do
            :: i0 < 2;
                i0++;
                q0?g1;
                L1: i1 = 0;
                do
                :: i1 < 1; i1++; q0!1; q0!0
                :: else; break
                od
            :: else; break
            od;
            c0!(true -> s0.t.f : 3) % 2;
            s0.t.b = 1
        };
        s0.t.b = (a0[s0.z % 3] <= 0);
        s0.t.b = (2 > s0.z);
        goto L1
    :: s0.t.f != 1; break
    :: c0?0
    od
}

init {
    short x0;
    run P();
    atomic {
        goto L0
    } unless {
        c0?eval(s0.t.b);
        q0?s0.t.b
    };
    do
    :: c0!0; goto L0
    :: q0?[g1]; goto L0
    od;
    L0: g0 = _pid % 2
}
never wrong {
    do
    :: (s0.t.f == 1)
    :: (2 > g2) -> break
    od
}
ltl p0 { [] <> (g1 <= 1) }
