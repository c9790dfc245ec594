/* random model, seed 22 */
mtype = { red, green };
mtype:fruit = { apple, pear };
typedef Msg { byte x; bit y };
Msg m0;
byte g0;
bool g1;
bit g2;
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan q0 = [1] of { byte };
chan c0 = [0] of { mtype };
chan qs = [1] of { Msg };

proctype P(int p0; byte p1) {
	byte x0;
	end_wait: do
	:: p0 != 1 -> skip
	:: g1 < 1 ->
		do
		:: break
		:: (g0 >= (g1 * g0)) -> c0?_; x0 = (x0 + 1) % 2
		:: else -> x0 = g2 % 2
		od
	:: else -> break
	od
}

active proctype Q() {
	byte x0;
	byte x1 = 1;
	Msg lm;
	if
	:: (gx < 2)
	:: (x0 != 1 || m0.x != 1) ->
		gx = (_pid ^ (g2 / 3)) % 2 unless {
			if
			:: c0?_ ->
#if 1 + 1 == 2
				lm.x = (lm.x + 1) % 2;
#else
				x1 = (3 + (1 + 1)) % 2;
#endif
				skip
			:: q0!1 -> g2 = false; printf("value %d\n", g1)
			fi;
			g0 = 3 % 3
		}
	:: q0!1
	:: else
	fi;
	g0 = run P(0, 0);
	q0!lm.x;
	m0.x = (m0.x + 1) % 2;
	printf("value %d\n", g0)
}

init {
	byte x0;
	Msg lm;
	atomic {
		run P(1, 0);
		run P(3 % 2, 2 % 2)
	};
	end_wait: do
	:: c0?_ ->
#if 1 + 1 == 2
		x0 = ((g1 / 3) / 2) % 2;
#else
		m0.x = 1;
#endif
		skip
	:: else -> break
	od
}
ltl p0 { ((1 > g1) release (m0.y != 1)) }
