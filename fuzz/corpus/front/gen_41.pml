/* random model, seed 41 */
typedef T {
    byte f;
    bit e[2];
};
typedef U { T t; byte z };
U s0[2];
byte g0;
pid g1;
chan q0 = [1] of { byte };

active [2] proctype P() {
    byte x0;
    do
    :: 2 > s0[0].t.f -> s0[x0 % 2].t.f = 1
    :: q0!0 -> g1 = x0 % 2
    :: else -> break
    od
}

active proctype Q() priority 1 {
    do
    :: 1 > s0[g1 % 2].t.f -> s0[1].z = 1 % 2; !(g1 != 0)
    :: g1 >= 1 -> q0?g1; printf("value %d\n", s0[g1 % 2].t.f)
    :: g1 <= 0 -> break
    od;
    s0[1].t.f = 3 % 2
}
never wrong {
    do
    :: (g0 == 1)
    :: (2 > g1) -> break
    od
}
ltl p0 { []<> (g0 == 1) }
