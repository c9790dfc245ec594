/* random model, seed 39 */
// small on purpose: everything is counted
byte g0;
byte g1 = 1;
bit g2;
chan q0 = [1] of { bit };
chan qa[2] = [1] of { pid };

active proctype P() priority 1 {
	byte x0 = 1
	xs q0
	xr q0
	qa[x0 % 2]!g0
	do
	:: q0!1 ->
		{
			g2 = (g2 == 1)
			g1 = 1
		} unless {
			(get_priority(_pid) <= (1 > g0 -> 2 : x0))
		}
		{
			if
			:: !(g0 != 1) -> printf("here :: -> ; done\n")
			:: else
			:: (2 > x0 -> g0 < 2 : x0 == 0) -> q0?g1; g1 = 0
			fi
			qa[0]!len(qa[1]) % 2
		} unless {
			qa[0]?0
			_priority = 3
		}
	:: 1 > g0 -> g0 = (g0 + 1) % 2
	:: g0 >= 1 -> break
	od
}

active proctype Q() priority 2 {
	{
		{
			if
			:: g1 = 3 % 2 ->
				g1 = 1
				if
				:: g1 != 0 -> g1 = (g1 + 1) % 2
				:: g0 >= 0
				:: else -> g0 = (g0 + 1) % 2
				fi
			:: else
			fi
			g0 = 1
			do
			:: ((0 / 3) > len(q0)) -> q0!0; g1 = 1
			:: g1 != 1 -> g1 = ((0 + _pid) + get_priority(_pid)) % 2; skip; skip
			od
		} unless full(q0)
		g1 = (_pid * len(q0)) % 2
	} unless {
		q0?g1
		q0?_
	}
	end_wait: do
	:: (!(g0 != 0))
	:: else -> g1 = 1
	:: !g2 ->
		/* a remark { over
   two lines } */
		g0 = 1
	:: (g2 <= 1) -> g2 = false
	od
}
