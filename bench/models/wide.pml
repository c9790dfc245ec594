/* Shallow and wide: each of N processes makes one choice among nine and is done. 10^N states, no path longer than N,
 * and levels of up to half of all states.
 *
 * size             stored  transitions      depth
 * N=3                1000         2701          3
 * N=4               10000        36001          4
 * N=5              100000       450001          5
 * N=6             1000000      5400001          6
 * N=7            10000000     63000001          7
 */
#ifndef N
#define N 3
#endif

byte chosen[N];

active [N] proctype chooser()
{
	if
	:: chosen[_pid] = 1
	:: chosen[_pid] = 2
	:: chosen[_pid] = 3
	:: chosen[_pid] = 4
	:: chosen[_pid] = 5
	:: chosen[_pid] = 6
	:: chosen[_pid] = 7
	:: chosen[_pid] = 8
	:: chosen[_pid] = 9
	fi;
end:	chosen[_pid] == 0
}

/* All choose; but not the same. */
ltl holds { [] ((chosen[0] == 1) -> <> (chosen[1] != 0)) }
ltl broken { [] ((chosen[0] == 1) -> <> (chosen[1] == 1)) }
