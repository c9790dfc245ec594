/* random model, seed 28 */
#define K 3
#define IS(v, w) ((v) == (w))
typedef Msg { byte x };
Msg m0;
byte g0;
pid g1 = 1;
bool g2;
byte a0[2] = { 2, 1 };
chan q0 = [1] of { short, byte, short };
chan qs = [1] of { Msg };

inline step() {
	if
	:: g2--;
		if
		:: (full(q0) && IS(g0, 0));
			a0[g0 % 2] = (m0.x + 1) % 2;
			a0[0] = ((K % 1) * (3 + 3)) % 2
		:: m0.x < 2; skip
		fi;
		skip
	:: empty(q0); skip; a0[m0.x % 2] < 2
	:: else
	fi;
	skip
}
inline next(v) {
    return (v + 1) % 2
}

proctype P(byte p0; int p1) {
	byte i0, i1;
	do
	:: q0?[p1, _, _];
		step();
		L0: for (i0 : 0 .. 1) {
			for (i1 in a0) {
				step();
				p1 = next(1)
			};
			break
		}
	:: a0[p0 % 2] != 1; g2++
	od
}

active proctype Q() {
	byte x0 = 1;
	Msg lm;
	byte i0;
	q0!!lm.x % 2, x0, len(q0) % 2;
	for (i0 in a0) {
		{
			if
			:: full(q0); break
			:: else
			fi;
			g0 = 0
		}
	};
	a0[1] = x0 % 2;
	L0: lm.x = g2 % 2;
	accept_1:
}

active proctype R() {
	byte i0, i1;
	run P(1, 0);
	run P(g0 % 2, 1);
	for (m0 in qs) {
		g0 = (g0 + 1) % 2
	};
	g1 = g1 % 3;
	for (i0 : 0 .. 0) {
		g2 = (a0[0] < 2)
	};
	if
	:: (1 < (a0[g0 % 2] * g0)); qs!m0; g2--
	:: 2 > g0;
		if
		:: a0[g0 % 2] = (g2 + 1) % 2;
			L0: for (i1 : 1 .. g2) {
				qs?m0
			}
		:: !(Q@accept_1)
		:: else; g1 = 1
		fi
	:: else
	fi;
	g1 = 0
}
