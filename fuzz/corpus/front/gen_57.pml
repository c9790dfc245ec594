/* random model, seed 57 */
typedef T { byte f; short e[2] };
typedef U { T t; byte z };
U s0;
byte g0;
bit g1 = 1;
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan q0 = [2] of { byte, byte };
chan c0 = [0] of { byte };

active [2] proctype P() {
	byte x0 = 1;
	byte x1;
	L0: do
	:: !(s0.z == 0) ->
		{
			s0.z = (s0.z + 1) % 2
		};
		if
		:: 1 > gx ->
			q0!1, g0;
			((1 * s0.z) > len(q0))
		:: (x0 < 2) ->
			g1 = (2 > s0.t.e[x0 % 2])
		fi
	:: c0!gx ->
		x0 = gx % 2
	:: g1 <= 0 ->
		break
	od
}

init {
	if
	:: q0?s0.z, _ ->
		g1 = 0
	:: c0?1
	:: else
	fi;
	do
	:: !g1 ->
		end0: assert(g0 < 5)
	:: g1 = 1 ->
		break
	od
}
