/* random model, seed 51 */
#define K 2
#define IS(v, w) ((v) == (w))
byte g0 = 1;
local bool g1 = false;
int g2 = 1;
chan q0 = [1] of { int, byte };
chan meet = [0] of { byte };

inline step(v, w) {
	if
	:: (IS(g0, 0))
	:: q0??[_, eval(1)]
	:: else ->
		g2 = g0 % 3
	fi;
	g0 = 1 % 3
}

active proctype P() {
	end0: g0 = (g0 + 1) % 3;
	end1: step(g0, 0);
	d_step {
		g0 = 2;
		meet!1;
		skip
	};
	printf("value %d\n", g0);
	q0!g0 % 2, 1
}

active proctype Q() {
	chan lc = [1] of { int, byte };
	end_wait: do
	:: !g1 ->
		g2 = g1 % 3
	:: IS(g1, 0) ->
		g2 = (_pid << 1 >= 2) % 3
	:: g2 <= 1 ->
		break
	:: q0??g2, g0
	:: lc!g0 % 2, g0 % 2
	:: lc??g2, _
	od;
	end0: g1 = 0;
	end1: g1 = g1 & 1
}

init {
	do
	:: if
		:: g0 = (g0 + 1) % 3
		:: g2 = 'a' % 3
		:: (empty(q0) || g0 < 2) ->
			g0 = (g0 + 1) % 3
		fi
	:: ((g0 < _pid == 2) >= g0) ->
		do
		:: (!(g2 != 1)) ->
			progress0: q0?g2, _;
			g2 = (3 + (g0 % 3)) % 3;
			goto progress0
		:: g0 = 2 ->
			goto progress0
		:: else ->
			break
		od;
		printf("value %d\n", g0)
	:: else ->
		break
	od
}
never {
T0:
    if
    :: (IS(g2, 0)) -> goto T0
    :: atomic { (g0 <= 0) -> assert(!((g0 <= 0))) }
    fi;
accept_all:
    skip
}
