/* The largest name on a unidirectional ring: every node sends its name once and passes on larger ones; whose name comes
 * round has won and sends it round again, which is the progress. Growth comes from the names under way.
 *
 * size             stored  transitions      depth
 * N=3                  189          413         50
 * N=4                  768         2194        120
 * N=5                 3141        11196        224
 * N=6                13041        55941        475
 * N=7                54870       275482       1164
 * N=8               233019      1340276       2504
 * N=9               995301      6450653       5113
 * N=10             4265544     30747622      10751
 * N=11            18314937    145310376      23589
 */
#ifndef N
#define N 4
#endif

chan link[N] = [2] of { byte };
byte leaders;

active [N] proctype node()
{	byte name = (_pid + N / 2) % N + 1, heard;

	link[(_pid + 1) % N]!name;
end:	do
	:: link[_pid]?heard ->
		if
		:: heard > name -> link[(_pid + 1) % N]!heard
		:: heard < name
		:: heard == name ->
			leaders = 1;
progress:		link[(_pid + 1) % N]!name	/* once more round */
		fi;
		heard = 0
	od
}

/* Whoever's name comes round has won, and its name goes round for ever; but not every link holds two names at once. */
ltl holds { [] ((leaders == 1) -> <> (len(link[1]) >= 1)) }
ltl broken { <> (len(link[1]) == 2) }
