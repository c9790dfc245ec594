/* random model, seed 24 */
// small on purpose: everything is counted
mtype = { red, green, blue };
byte g0 = 1;
pid g1;
chan q0 = [2] of { bit };

inline step(v) {
	{
		assert(v < 5)
	};
	q0!1
}
inline next(v) {
    return (v + 1) % 2
}

active [2] proctype P() {
	unsigned x0 : 1;
	byte i0;
	x0 = g0;
	end_wait: do
	:: x0 >= 1 ->
		for (i0 : 1 .. 1) {
			assert(i0 < 5)
		}
	:: (g1 == 0)
	:: q0!1
	od;
	g1 = 256 + 1;
	L0: g1 = len(q0) % 2;
	end1: g0 = (x0 * (2 / 3)) % 3
}

active proctype Q() {
	q0?g0;
	g1 = (g1 + 1) % 2;
	goto L0;
	L0: g0 = (g0 + 1) % 3;
	end1: g1 = (g1 + 1) % 2
}
