/* random model, seed 30 */
mtype = { red, green };
mtype = { black };
typedef T { byte f };
T s0;
byte g0 = 1;
byte g1 = 1;
bit g2 = 1;
hidden byte h0;
chan q0 = [1] of { short };

proctype P(chan p0; byte p1) {
	chan r0 = q0
	do
	:: q0?_
	:: g1 = 1 ->
		q0!1 % 2
		g0 = 256 + 0
	:: g2 = false ->
		if
		:: atomic {
				d_step {
					p1 = 0
					g2++;
					g1 = 0
				}
				break
			} ->
			select (g1 : 0 .. 2)
		fi
	:: else ->
		g0 = (g0 + 1) % 3
	od
	q0?0
	q0?_
}

active proctype Q() {
	q0!s0.f % 2
	g2 = true
	printf("value %d\n", g1)
	select (g1 : 0 .. 2)
}

active proctype R() {
	byte x0
	chan r0 = q0
	run P(q0, 1)
	do
	:: (g0 >= 'a') ->
		if
		:: s0.f == 0
		:: (g2 < 1 -> s0.f == 1 : g1 == 1) ->
			if
			:: if
				:: q0?_
				:: h0 = (_nr_pr + 1) % 3 ->
					printf("value %d\n", g1)
				:: (x0 < 1 || g0 >= 1) ->
					g1 = (g1 + 1) % 3
				fi ->
				break
			:: (g1 < 1) ->
				if
				:: !(1 > g0) ->
					q0!g0 % 2
					r0?_
				fi
			:: else ->
				g0 = 256 + 2
			fi
		:: g0 <= 1 ->
			select (g1 : 0 .. g2 + 1)
		:: else ->
			break
		fi
	:: q0!(x0 * x0) % 2
	od
}
