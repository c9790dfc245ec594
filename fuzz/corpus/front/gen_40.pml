/* random model, seed 40 */
typedef T { byte f };
T s0;
byte g0;
bit g1 = 1;
chan q0 = [2] of { byte };
chan c0 = [0] of { bit, byte };
chan q1 = [2] of { byte, bit };
chan meet = [0] of { byte };

inline step(v) {
	byte il;
	atomic {
		if
		:: nfull(q0) ->
			q0!1
		:: else ->
			g1 = false
		fi;
		g1--;
		g0 = g0 % 2
	};
	assert(2 > il || 2 > s0.f)
}

proctype P(byte p0; chan p1) {
	byte x0 = 1;
	byte x1;
	chan r0 = q0;
	accept_0: step(s0.f);
	do
	:: q0!!1 ->
		(!g1 && s0.f < 1);
		g1 = 1
	:: s0.f >= 0
	:: else ->
		break
	:: c0!0, 1
	:: q1??p0, x1
	od;
	L1: atomic {
		printf("value %d\n", g1);
		d_step {
			g0 = 1;
			meet!1;
			skip
		}
	}
}

init {
	byte x0 = 1;
	bit x1;
	chan r0 = q0;
	byte i0, i1, i2;
	atomic {
		run P(g0 % 2, q0);
		run P(0, q0)
	};
	for (i0 : 1 .. 1) {
		for (i1 : 0 .. 2) {
			g1 = 2 & 1;
			for (i2 : 0 .. 2) {
				q1!!0, 0;
				goto end0
			}
		};
		skip
	};
	end0: do
	:: q0??_ ->
		g0 = _pid % 2
	:: c0?_, s0.f ->
		d_step {
			c0?_, x0;
			x1--;
			g1--;
			printf("value %d\n", g1)
		}
	:: else ->
		s0.f = 3 % 2
	od;
	s0.f = 0
}
