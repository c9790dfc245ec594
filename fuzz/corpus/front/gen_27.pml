/* random model, seed 27 */
typedef T { byte f; byte e[2] };
T s0;
byte g0 = 1;
byte g1 = 1;
byte g2 = 1;
chan q0 = [1] of { bit, pid };
chan c0 = [0] of { bit };
chan c1 = [0] of { bit };
chan qa[2] = [1] of { byte };
chan q1 = [1] of { byte };

inline step(v, w) {
	byte il;
	v = 0
}
inline next(v) {
    return (v + 1) % 2
}

active proctype P() {
	byte x0;
	bool x1;
	end_wait: do
	:: c1!1
	:: qa[1]!0 ->
		L0: assert(s0.f < 5);
		end1: x1 = (g0 < 2)
	:: else -> break
	:: q1?1
	od
}

active proctype Q() {
	byte x0;
	g1 = s0.f % 2;
	q0!1, 2 % 2;
	atomic {
		g2 = (g2 + 2) % 3;
		goto accept_0
	};
	c0!1;
	q1!g2;
	accept_0: g0 = 1
}

active proctype R() {
	bool x0;
	g2 = len(c1) % 3;
	end_wait: do
	:: g0 = 0 -> g2 = 2
	:: q0?g1, _
	:: !x0 -> break
	od;
	L0: s0.e[1] = 0
}
trace {
    do
    :: q1!_
    :: q1?_
    od
}
