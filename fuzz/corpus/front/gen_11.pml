/* random model, seed 11 */
#define K 2
#define INC(v) v = (v + 1) % K
mtype = { red, green, blue };
mtype:fruit = { apple, pear };
byte g0 = 1;
mtype:fruit g1 = pear;
bool a0[3];
chan q0 = [1] of { mtype:fruit };
chan c0 = [0] of { byte };

active proctype P() {
    bit x0 = 1
    bool x1 = true
    chan lc = [1] of { mtype:fruit }
    do
    :: x1 = 0 ->
        L0: if
        :: g0 == 1 ->
            q0!g1
            int b0 = x0
        :: !(1 > g0) ->
            d_step {
                !(b0 < 1)
                if
                :: 2 > g0
                :: q0!g1 ->
                    b0 = ((len(lc) / 1) - (a0[x0 % 3] + x1)) % 2
                    bit b1 = 0
                :: else
                fi
                x1 = (!b1)
                x0++
            }
        :: else -> goto accept_1
        fi
        g0 = (g0 + 1) % 2
    :: false ->
        accept_1: x0 = K & 1
    :: else -> break
    od
}
