/* random model, seed 4 */
#define K 3
#define INC(v) v = (v + 1) % K
typedef T {
    byte f = 1;
    bit e[2];
    bit b;
};
typedef U { T t; byte z };
U s0;
show byte g0;
bool g1 = true;
show byte g2;
chan c0 = [0] of { pid, byte };
chan meet = [0] of { byte };

inline step() {
    s0.t.e[s0.z % 2] = s0.t.f & 1
}

active proctype P() provided (s0.t.f <= 0) {
    byte x0 = 1;
    end_wait: do
    :: s0.t.b-- ->
        c0?s0.t.f, x0;
        do
        :: if
            :: s0.t.b != 1
            :: g2 = s0.t.f % 2 -> s0.t.b--
            fi
        :: g0 >= 0
        :: c0!1, (s0.t.b + _pid) % 2 -> s0.t.e[s0.t.b % 2] = false
        od
    :: g2 = (g2 + 1) % 2 -> step()
    :: g1 -> break
    od;
    s0.z = 0
}

active proctype Q() {
    byte x0;
    byte x1;
    x0 = s0.z % 2;
    c0?s0.z, 1;
    d_step {
        x0 = (x0 + 1) % 2;
        meet!1;
        skip
    };
    atomic {
        if
        :: else
        :: c0?_, s0.z ->
            atomic {
                x1 = s0.t.f % 2;
                s0.z = (s0.z + 1) % 2;
                INC(x1)
            }
        :: s0.z <= 1 -> s0.z = (s0.z + 1) % 2
        fi;
        assert((!s0.t.e[1] && x0 == 0) || x0 >= 0)
    };
    x0 = 1
}

active proctype R() {
    byte x0;
    end_wait: do
    :: c0!1, 0 -> assert(s0.t.b < 5)
    :: c0?s0.t.f, g0 ->
        if
        :: (g0 >= 1 -> g1 == 0 : 1 > g2) -> g1++
        :: else -> assert(x0 < 5)
        fi;
        g0 == 1
    od
}
