/* random model, seed 8 */
#define K 3
byte g0;
bool g1 = false;
bool g2;
hidden byte h0;
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan c0 = [0] of { int };
chan c1 = [0] of { int };

proctype P(int p0; int p1) {
	byte x0
	end_wait: do
	:: g1 = false ->
		!(gx >= 0)
		L0: c0!p0 % 2
	:: !(x0 >= 1) -> c1?_; p0 = ((gx + g1) + g0) % 2
	:: p0 = p1 % 2 ->
		accept_1: c1?p1
		x0 = (_pid + 2) % 2
	od
}

init {
	byte x0 = 1
	bit x1
	run P(x1 % 2, 1)
	run P(0, x1 % 2)
	do
	:: 2 > x0 ->
		do
		:: c0?_ ->
			do
			:: x0 >= 1 ->
				accept_0: c0?_
			:: x0 <= 1 -> g2 = 0
			:: else -> break
			od unless ((len(c0) - x1) > _pid)
		:: (g0 == 1) -> x0 = x0 % 2
		:: g1 -> assert(gx < 5); g1 = (!x1)
		od
		gx = 1
	:: else -> break
	:: c1!-gx % 2
	od
}
