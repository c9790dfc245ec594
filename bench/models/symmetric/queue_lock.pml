/* A queue of waiting processes that is kept by themselves (the lock of Mellor-Crummey and Scott): each knows who comes
 * after it, and the lock knows who came last.
 *
 * size      stored  transitions      depth
 * N=2          119          215         67
 * N=3         2446         6439       1113
 * N=4        65365       226997      24252
 * N=5      2159256      9316201     678901
 * N=6            0            0          0
 */
#ifndef N
#define N 2
#endif

byte tail = 255;		/* who came last, 255: nobody is there */
byte next[N] = 255;		/* who comes after */
bool waits[N];
byte critical;

active [N] proctype process()
{	byte before = 255;

	do
	:: atomic { before = tail; tail = _pid };
	   if
	   :: before == 255
	   :: else ->
		waits[_pid] = true;
		next[before] = _pid;
		before = 255;
		!waits[_pid]
	   fi;
	   before = 255;
	   critical++;
	   assert(critical == 1);
	   critical--;
	   if
	   :: atomic { tail == _pid -> tail = 255 }
	   :: next[_pid] != 255 -> waits[next[_pid]] = false; next[_pid] = 255
	   fi
	od
}

#ifndef NOCLAIM
/* Needs weak fairness: who stands in the queue gets in, or somebody before it. */
ltl holds { [] ((tail != 255) -> <> (critical == 1)) }
/* There need not be a moment in which the queue is empty. */
ltl broken { [] ((critical == 1) -> <> (tail == 255)) }
#endif
