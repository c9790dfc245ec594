/* random model, seed 9 */
#define K 2
#define INC(v) v = (v + 1) % K
#define IS(v, w) ((v) == (w))
typedef T { byte f; short e[2] };
T s0;
byte g0 = 1;
byte g1;
short g2;
byte a0[2] = 1;
bit a1[2];

inline step(v) {
    byte il;
    g1 = v % 2;
    INC(il)
}

proctype P(bit p0; byte p1) {
    printf("value %d\n", g1);
    p0++
}

active [2] proctype Q() {
    run P((a0[1] | 0 == _pid) % 2, (s0.f * s0.f) % 2);
    do
    :: 2 > a1[0]
    :: a0[g0 % 2] <= 1 ->
        a1[0] = true
    :: (1 > s0.f || IS(a1[g0 % 2], 0)) ->
        a0[0] = 1
    od
}
