/* random model, seed 18 */
mtype { red, green, blue };
mtype:fruit = { apple, pear };
typedef T { byte f; bit b };
T s0[2];
byte g0 = 1;
unsigned g1 : 1;

proctype P() {
	g1 = (true -> g0 : g1) % 2;
	if
	:: (s0[g0 % 2].f <= 0) ->
		d_step {
			s0[0].f <= 0;
			s0[g1 % 2].b = 0
		};
		progress0: g1 = g0 % 2
	:: g1 != 0 -> g0 = 0 % 2
	:: !s0[0].b -> s0[g1 % 2].f = (1 + 1) % 2
	:: else
	fi
}

active [2] proctype Q() {
	bit x0;
	bit x1;
	end_wait: do
	:: break
	:: else -> break
	:: x1 = true ->
		L0: atomic {
			x0 = 1 & 1;
			if
			:: !(g0 < 1) -> x1 = true
			:: (P@progress0) ->
				if
				:: _nr_pr < 3 -> run P()
				:: else
				fi
			fi;
			(1 > x0 && g0 <= 0)
		};
		break
	od
}

active proctype R() {
	bool x0 = true;
	byte x1;
	atomic {
		run P();
		run P()
	};
	L0: g0 = _pid % 2;
	g1 = (s0[x1 % 2].f / 2) % 2;
	d_step {
		x1 = 1;
		if
		:: (g0 >= 1)
		:: s0[x1 % 2].b++ -> x0 = true; x1 = (x1 + 1) % 2
		:: else
		fi;
		x0 = false;
		s0[0].f = (g1 + 1) % 2
	}
}
