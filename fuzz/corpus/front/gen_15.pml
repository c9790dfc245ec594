/* random model, seed 15 */
typedef Msg { byte x };
Msg m0;
typedef T { byte f };
typedef U { T t; byte z };
U s0;
byte g0;
bit g1;
chan q0 = [2] of { byte, byte };
chan qs = [1] of { Msg };

proctype P() priority 2 {
	byte x0 = 1;
	byte x1 = 1;
	chan lc = [1] of { byte, byte };
	Msg lm;
	end_wait: do
	:: q0!0, g1 % 2 ->
		lc!1, 1 % 2;
		if
		:: lc?x0, x1 -> lm.x = m0.x % 2
		:: else
		fi
	:: qs?m0 ->
		{
			(1 > x1 && x1 >= 1);
			goto accept_0
		}
	od;
	accept_0: x0 = (g1 * 2 == g1) % 2
}

active proctype Q() {
	byte x0;
	byte x1;
	chan lc = [1] of { byte, byte };
	Msg lm;
	if
	:: 2 > lm.x -> lc?s0.t.f, lm.x
	:: m0.x = 2 % 2 ->
		L0: printf("here :: -> ; done\n")
	:: q0?x0, s0.t.f ->
		atomic {
			qs?lm;
			qs!lm;
			lc!0, 0
		}
	fi;
	lc?eval((2 * s0.z)), eval((2 | g1 == _priority))
}

active proctype R() priority 3 {
	chan lc = [1] of { byte, byte };
	Msg lm;
	lc!lm.x, 0;
	run P();
	qs?lm;
	qs!lm;
	lc?s0.z, lm.x;
	accept_0:
}
trace {
    do
    :: q0!_, _
    :: q0?_, _
    od
}
ltl p0 { ([] ((g0 < 1) <-> <> (g0 <= 1)) && (g1 != 0)) }
