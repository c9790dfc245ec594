/* N independent counters modulo 10: the plainest state space there is, 10^N states and N transitions out of each.
 * Whatever a tool does per state and per transition is all there is to see.
 *
 * size             stored  transitions      depth
 * N=3                1000         3001        999
 * N=4               10000        40001       9999
 * N=5              100000       500001      99999
 * N=6             1000000      6000001     999999
 * N=7            10000000     70000001    9999999
 */
#ifndef N
#define N 3
#endif

byte c[N];

active [N] proctype counter()
{
	do
	:: c[_pid] = (c[_pid] + 1) % 10
	od
}

/* A counter that leaves a value comes to the others; but it may be left alone. */
ltl holds { ([]<> (c[0] == 1) && []<> (c[0] == 2)) -> []<> (c[0] == 7) }
ltl broken { [] ((c[0] == 1) -> <> (c[0] == 2)) }
ltl fair { []<> (c[0] == 0) }
