/* random model, seed 32 */
// small on purpose: everything is counted
#define K 3
#define IS(v, w) ((v) == (w))
byte g0;
byte g1 = 1;
byte g2;
#ifdef K
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan q0 = [1] of { byte };

inline step(v, w) {
	g2 = 1 % 2;
	g2 = 1
}
inline next(v) {
    return (v + 1) % 2
}

proctype P(int p0) {
	chan lc = [1] of { byte };
	lc?p0;
	lc!g0;
	L1: {
		lc!gx % 2;
		L0: lc?gx
	}
}

active proctype Q() {
	xs q0;
	xr q0;
	run P(g2 % 2);
	run P(1);
	g1 = K % 3;
	if
	:: 2 > gx ->
		progress0: g1 = (0 << 1 | g1) % 3;
		int b0 = gx
	:: q0!1 ->
		g1 = (true -> (2 & gx) : (gx < 1 -> 2 : K)) % 3
	:: P@L0 ->
		q0!0
	fi;
	b0 = g1 % 2;
	gx = next(0);
	g0 = (g0 + 1) % 2;
	q0?0
}
