/* A token ring: N stations pass one token; a station that wants the shared medium uses it while it holds the token.
 * Growth comes from who wants it, 2^N, and from where the token is.
 *
 * size             stored  transitions      depth
 * N=2                  81          147         57
 * N=3                 423         1068        177
 * N=4                1989         6456        577
 * N=5                8847        35136       2094
 * N=6               38061       178908       6773
 * N=7              160263       870636      22645
 * N=8              665109      4101840      74157
 * N=9             2732607     18866328     238916
 * N=10           11146941     85198404     774484
 */
#ifndef N
#define N 5
#endif

chan link[N] = [1] of { bit };
bool wants[N];
byte users;

active [N] proctype station()
{
	if
	:: _pid == 0 -> link[0]!0
	:: else
	fi;
	do
	:: !wants[_pid] -> wants[_pid] = true
	:: link[_pid]?_ ->
		if
		:: wants[_pid] ->
progress:		users++;
			assert(users == 1);
			users--;
			wants[_pid] = false
		:: else
		fi;
		link[(_pid + 1) % N]!0
	od
}

/* Nobody keeps the token; but nobody has to use it. */
ltl holds { [] ((users == 1) -> <> (len(link[0]) == 1)) }
ltl broken { []<> (users == 1) }
