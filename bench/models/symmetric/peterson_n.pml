/* Peterson's lock for N processes: who has climbed all levels is in the critical section. On a level a process waits
 * until another one comes after it, or all others are below; that is one test, so that no process looks at the others
 * one by one. Process numbers are kept and compared, nothing else: all processes can change places.
 *
 * size      stored  transitions      depth
 * N=2           86          155         44
 * N=3         1832         4327        663
 * N=4        48256       140321      10222
 * N=5      1458342      5117431     214508
 * N=6            0            0          0
 */
#ifndef N
#define N 2
#endif
#if N == 2
#define SOME_TRIES (level[0] > 0 || level[1] > 0)
#define OTHERS_BELOW ((0 == _pid || level[0] < k) && (1 == _pid || level[1] < k))
#elif N == 3
#define SOME_TRIES (level[0] > 0 || level[1] > 0 || level[2] > 0)
#define OTHERS_BELOW ((0 == _pid || level[0] < k) && (1 == _pid || level[1] < k) && (2 == _pid || level[2] < k))
#elif N == 4
#define SOME_TRIES (level[0] > 0 || level[1] > 0 || level[2] > 0 || level[3] > 0)
#define OTHERS_BELOW ((0 == _pid || level[0] < k) && (1 == _pid || level[1] < k) && (2 == _pid || level[2] < k) && (3 == _pid || level[3] < k))
#elif N == 5
#define SOME_TRIES (level[0] > 0 || level[1] > 0 || level[2] > 0 || level[3] > 0 || level[4] > 0)
#define OTHERS_BELOW ((0 == _pid || level[0] < k) && (1 == _pid || level[1] < k) && (2 == _pid || level[2] < k) && (3 == _pid || level[3] < k) && (4 == _pid || level[4] < k))
#elif N == 6
#define SOME_TRIES (level[0] > 0 || level[1] > 0 || level[2] > 0 || level[3] > 0 || level[4] > 0 || level[5] > 0)
#define OTHERS_BELOW ((0 == _pid || level[0] < k) && (1 == _pid || level[1] < k) && (2 == _pid || level[2] < k) && (3 == _pid || level[3] < k) && (4 == _pid || level[4] < k) && (5 == _pid || level[5] < k))
#endif

byte level[N];			/* how far each has climbed; N is the critical section */
byte last[N] = 255;		/* who came to a level last, nobody at first */
byte critical;			/* how many are inside */

active [N] proctype process()
{	byte k = 1;

	do
	:: level[_pid] = k;
	   last[k] = _pid;
	   (last[k] != _pid || OTHERS_BELOW);
	   k++;
	   if
	   :: k < N
	   :: else ->
		level[_pid] = N;
		critical++;
		assert(critical == 1);
		critical--;
		level[_pid] = 0;
		k = 1
	   fi
	od
}

#ifndef NOCLAIM
/* Needs weak fairness: somebody gets in whenever somebody tries. */
ltl holds { [] (SOME_TRIES -> <> (critical == 1)) }
/* There need not be a moment in which nobody tries. */
ltl broken { [] ((critical == 1) -> <> !SOME_TRIES) }
#endif
