/* random model, seed 56 */
#define K 3
byte g0;
short g1;
int g2;
bit a0[2];
chan q0 = [1] of { byte, byte };
chan c0 = [0] of { short };
chan q2 = [1] of { byte, byte };
chan qc = [0] of { chan };

inline step() {
    if
    :: a0[1] = g0 & 1 ->
        a0[1] = (g1 == 0);
        if
        :: g1 >= 1 -> a0[g0 % 2] = len(c0) & 1
        :: g1 != 1 -> g1 = -2 % 3
        :: else -> g0 = 0
        fi
    :: g0 = (3 + 1) % 2 -> g0 = 0 % 2
    :: (a0[g0 % 2] <= g0) -> g1 = ((a0[0] | a0[0]) - a0[g0 % 2]) % 3
    :: else
    fi;
    g0 = (g0 + 1) % 2
}

active proctype P() {
    chan lc = [1] of { byte, byte }
    do
    :: (a0[0] || !a0[g0 % 2]) ->
        L0: goto L1
    :: c0?g2 ->
        if
        :: break
        :: (g2 != 0) ->
            L1: select (g0 : 0 .. 1)
            step()
        :: g0 <= 0
        fi
        q2!0, 1
    :: else -> g0 = (len(q2) * (1 | a0[g0 % 2])) % 2
    :: qc!q0
    :: lc!a0[1] % 2, 0
    :: lc?g2, g0
    od
}

active proctype Q() {
    chan r0 = q0
    step()
    L0: {
        assert(a0[1] < 5)
    } unless qc!q0
    end1: q0!1, 1
    g1 = g2 % 3
    goto L0
}

init {
    chan r0 = q0
    if
    :: q0?g0, 1 ->
        L0: step()
        c0!g0 % 2
    :: g0 == 0 ->
        end1: a0[0] = 1 & 1
    :: else
    fi
    g1 = K % 3
    q2?_, g0
    timeout
}
never {
    do
    :: (g2 <= 0)
    :: np_ -> break
    od
}
