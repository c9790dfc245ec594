/* random model, seed 14 */
byte g0 = 1;
byte g1 = 1;
byte g2;
chan q0 = [1] of { byte };

proctype P(byte p0; byte p1) {
	byte x0 = 1
	byte x1
	x1 >= 1
	do
	:: 2 > p0 -> q0!1
	:: q0?0 -> assert(g0 == 0 || x0 <= 1)
	od
	accept_0: x1 = 1
	accept_1:
}

active proctype Q() {
	byte x0
	bit x1
	run P(x0 % 2, 3 % 2)
	run P(g2 % 2, 0)
	do
	:: q0!1 ->
		do
		:: do
			:: g2 >= 0 ->
				end0: printf("here :: -> ; done\n")
			:: q0?g1 ->
				accept_1: break
			:: ((g0 == 0 -> g2 : 3) <= (0 * g2)) ->
				if
				:: q0!g2 -> x0 = (x0 + 1) % 3; x1 = false
				:: else -> g2 = g0 % 3
				fi
			od
		:: ((1 * 1) != g1) -> x1++
		od
		x1 = 0
	:: q0?1 ->
		if
		:: _nr_pr < 3 -> run P(0, 1)
		:: else
		fi
	od
	g1 = 0
}
