/* Lamport's bakery with bounded tickets: N customers; nobody draws while the largest ticket is K.
 * The ticket is drawn by looking at the others one at a time, as the algorithm is meant to.
 *
 * size             stored  transitions      depth
 * N=2 K=2            1914         3688        436
 * N=2 K=8            8754        16648        887
 * N=3 K=1           54024       156177      12143
 * N=3 K=2          158491       451121      17040
 * N=3 K=4          487772      1368266      29250
 * N=3 K=8         1286622      3583003      68261
 * N=4 K=1         3948528     15196130     641229
 * N=4 K=2        16337880     61791460    1045614
 */
#ifndef N
#define N 2
#endif
#ifndef K
#define K 4
#endif

bool choosing[N];
byte ticket[N];
byte inside;

active [N] proctype customer()
{	byte j, largest;

	do
	:: choosing[_pid] = true;
		do
		:: j < N ->
			if
			:: ticket[j] > largest -> largest = ticket[j]
			:: else
			fi;
			j++
		:: else -> break
		od;
		j = 0;
		if
		:: largest < K -> ticket[_pid] = largest + 1
		:: else -> largest = 0; choosing[_pid] = false; goto later
		fi;
		largest = 0;
		choosing[_pid] = false;
		do
		:: j < N ->
			!choosing[j];
			ticket[j] == 0 || ticket[j] > ticket[_pid] || (ticket[j] == ticket[_pid] && j >= _pid);
			j++
		:: else -> break
		od;
		j = 0;
progress:	inside++;	/* who comes when all tickets are out goes away, again and again */
		assert(inside == 1);
		inside--;
		ticket[_pid] = 0;
later:		skip
	od
}

/* Who draws again and again chooses again and again; but who chooses may have to wait for ever, since the others may
 * move alone. */
ltl holds { ([]<> (ticket[0] == 1) && []<> (ticket[0] == 0)) -> []<> choosing[0] }
ltl broken { [] (choosing[0] -> <> (inside == 1)) }
