/* Dining philosophers who put their fork down again if the other one is taken: nobody is stuck, but all may go on like
 * that without anybody eating, which is the progress. Growth is fourfold for each philosopher.
 *
 * size             stored  transitions      depth
 * N=3                   63          154         53
 * N=4                  257          821        245
 * N=5                 1023         4096        952
 * N=6                 4097        19663       3867
 * N=7                16383        91750      17319
 * N=8                65537       419433      72908
 * N=9               262143      1887436     296272
 */
#ifndef N
#define N 3
#endif

bool taken[N];
byte eats[N];

active [N] proctype philosopher()
{	byte left = _pid, right = (_pid + 1) % N;

	do
	:: atomic { !taken[left] -> taken[left] = true };
		if
		:: atomic { !taken[right] -> taken[right] = true };
			eats[_pid] = 1;
			assert(eats[(_pid + 1) % N] + eats[(_pid + N - 1) % N] == 0);
progress:		eats[_pid] = 0;
			taken[right] = false
		:: taken[right]		/* after you */
		fi;
		taken[left] = false
	od
}

/* Who eats has both forks; but all may take and put down one fork for ever. */
ltl holds { [] ((eats[0] == 1) -> taken[0]) }
ltl broken { []<> (eats[0] == 1) }
