/* random model, seed 48 */
byte g0;
byte g1;
chan q0 = [1] of { byte };
chan c0 = [0] of { byte, byte, byte };
chan qa[2] = [1] of { byte };

active proctype P() {
	byte x0;
	int x1;
	chan r0 = q0;
	q0??_;
	if
	:: ((_pid + x0 != 3) > _nr_pr)
	:: c0!g1, 0, 0 ->
		if
		:: else ->
			1 > x0
		:: qa[g1 % 2]!0 ->
			g0 = 0
		fi
	:: else ->
		L0: x0 = (x1 < 2 -> x0 : _nr_pr) % 2
	fi
}

active proctype Q() {
	int x0 = -1;
	int x1;
	chan r0 = q0;
	do
	:: x0 == 1 ->
		if
		:: q0!g1 ->
			do
			:: (g1 != 1 && g1 != 1) ->
				L0: break
			:: c0?g0, x0, _ ->
				assert(1 > x1 || x1 >= 1)
			od unless {
				c0!1, 0, g0
			};
			else
		:: else ->
			assert(g1 < 5)
		fi
	:: x0 != 0 ->
		skip
	:: qa[0]?g1 ->
		assert(!(x0 == 0) || g1 >= 1)
	:: g1 >= 1 ->
		break
	od
}

active proctype R() {
	byte x0 = 1;
	bool x1;
	q0??g0;
	do
	:: (x0 >= 1)
	:: g1 <= 0 ->
		x1--;
		x0 = (x0 + 1) % 2
	od;
	L0: x0 = (x0 + 1) % 2
}
