/* Dining philosophers: N of them, forks taken one by one, left fork first; the last one is left-handed and takes the
 * other one first, so nobody starves at a full table.
 *
 * size             stored  transitions      depth
 * N=2                  44           77         21
 * N=3                 224          561         67
 * N=4                1248         4137        265
 * N=5                6784        27905        879
 * N=6               37120       182529       3552
 * N=7              202752      1159681      12558
 * N=8             1107968      7226881      49470
 * N=9             6053888     44347393     196506
 * N=10           33079296    268877820     853345
 */
#ifndef N
#define N 4
#endif

bool taken[N];
byte eats[N];

active [N] proctype philosopher()
{	byte first = _pid, second = (_pid + 1) % N;

	if
	:: _pid == N - 1 -> first = 0; second = N - 1
	:: else
	fi;
	do
	:: atomic { !taken[first] -> taken[first] = true };
		atomic { !taken[second] -> taken[second] = true };
progress:	eats[_pid] = 1;
		assert(eats[(_pid + 1) % N] + eats[(_pid + N - 1) % N] == 0);
		eats[_pid] = 0;
		taken[second] = false;
		taken[first] = false
	od
}

/* Who eats again and again takes a fork for it; but who is hungry may starve, since the others may move alone. */
ltl holds { []<> (eats[0] == 1) -> []<> taken[0] }
ltl broken { []<> (eats[0] == 1) }
ltl fair { [] ((eats[0] == 1) -> <> (eats[0] == 0)) }
