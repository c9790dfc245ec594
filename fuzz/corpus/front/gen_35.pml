/* random model, seed 35 */
// small on purpose: everything is counted
byte g0;
bit g1;

proctype P() {
	end_wait: do
	:: g0 = (g0 + 1) % 3 ->
		assert(g1 || g0 >= 1);
		progress0: g1 = true
	:: g1-- -> assert(g1 < 5); g0 = g0 % 3
	:: g0 = 1 -> g1 = (g1 <= 1); g1 = 1
	od
}

init {
	byte x0 = 1;
	run P();
	run P();
	do
	:: x0 = x0 % 2 ->
		if
		:: break
		:: g0 = (g0 + 1) % 3 ->
			do
			:: if
				:: (!(x0 != 1)) ->
					L0: g0 = g1 % 3;
					g1 = (x0 < 2)
				:: g1 = 2 & 1 -> assert(g1 < 5); x0 = 1
				:: else
				fi ->
				g1 = 1;
				g1 = g1 & 1
			:: (x0 >= 0 || x0 == 1) -> g0 = 2
			od
		:: else -> g0 = 0
		fi
	:: else -> break
	od;
	do
	:: x0 = 2 % 2 -> assert(((x0 < 2 -> g0 : x0) >= (0 + x0)) || g1 == 0)
	:: x0 = x0 % 2 -> g0 = 0; g0 = 2 % 3
	:: g1 != 0 -> break
	:: x0 == 0 -> break
	od;
	g1 = false
}
ltl p0 { (P@progress0 weakuntil (g0 == 1)) }
ltl p1 { []<> (1 > g0) }
