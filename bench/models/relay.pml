/* A row of N relays that hand numbers on by handshake, each with a little work of its own on the way, and a clock that may
 * tick for ever. What comes out at the end is counted modulo 3.
 *
 * size             stored  transitions      depth
 * N=2                1728         6457        795
 * N=3               10368        45937       5521
 * N=4               62208       318817      33533
 * N=5              373248      2172097     217503
 * N=6             2239488     14587777    1359575
 * N=7            13436928     96857857    8413390
 */
#ifndef N
#define N 3
#endif

chan link[N + 1] = [0] of { byte };
byte expected;

active [N] proctype relay()
{	byte x, work;

	do
	:: link[_pid]?x ->
		work = 1;
		work = 2;
		link[_pid + 1]!x;
		work = 0; x = 0
	od
}

active proctype source()
{	byte x;

	do
	:: link[0]!x -> x = (x + 1) % 3
	od
}

active proctype sink()
{	byte x;

	do
	:: link[N]?x ->
		assert(x == expected);
		expected = (expected + 1) % 3;
		x = 0
	od
}

active proctype clock()
{	bit tick;

	do
	:: tick = 1 - tick
	od
}

/* Numbers come in turn, but nobody need do anything while the clock ticks, unless it is fair. */
ltl holds { ([]<> (expected == 1) && []<> (expected == 2)) -> []<> (expected == 0) }
ltl broken { <> (expected == 1) }
ltl fair { []<> (expected == 1) }
