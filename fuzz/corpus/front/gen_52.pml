/* random model, seed 52 */
// small on purpose: everything is counted
mtype = { red, green, blue };
mtype = { black };
byte g0 = 1;
bool g1;
chan q0 = [1] of { mtype };
chan qa[2] = [1] of { mtype, int };

inline next(v) {
    return (v + 1) % 2
}

active proctype P() {
    chan r0 = q0;
    qa[1]?_, _;
    // a remark; with a separator
    g0 = 0;
    q0?red;
    g0 = 0 % 2
}

init {
    byte x0;
    byte x1 = 1;
    chan r0 = q0;
    q0!red;
    qa[0]!red((x1 + 0) % 2);
    x1 = 0;
    skip
}
