/* Cache coherence, MSI with a directory: N caches and one line of memory that holds a number below V. Requests,
 * grants and recalls are rendez-vous. Who holds the line, to read or to write, sees what was written last.
 *
 * size             stored  transitions      depth
 * N=2 V=2             916         1857        274
 * N=3 V=2            6966        18983       1322
 * N=4 V=2           44808       154737       7718
 * N=5 V=2          263482      1107659      39045
 * N=6 V=2         1472604      7324817     189508
 * N=6 V=3         7085376     36618913     939357
 * N=6 V=4        25181160    133924820    3380319
 */
#ifndef N
#define N 2
#endif
#ifndef V
#define V 2
#endif

mtype = { want_shared, want_modified, drop, recall, data };

chan request = [0] of { mtype, byte, byte };	/* what, from whom, what a dropped line holds */
chan order[N] = [0] of { mtype, byte };		/* the line, or an order to give it up */
chan given[N] = [0] of { byte };			/* what a recalled line holds */

byte last;					/* what was written last */

active [N] proctype cache()
{	byte v;

invalid:
	v = 0;
	if
	:: request!want_shared, _pid, 0; order[_pid]?data, v; goto shared
	:: request!want_modified, _pid, 0; order[_pid]?data, v; goto modified
	fi;
shared:
	assert(v == last);
	if
	:: goto shared
	:: request!want_modified, _pid, 0; order[_pid]?data, v; goto modified
	:: request!drop, _pid, v; goto invalid
	:: order[_pid]?recall, _; given[_pid]!v; goto invalid
	fi;
modified:
	assert(v == last);
	if
	:: atomic { v = (v + 1) % V; last = v }; goto modified
	:: request!drop, _pid, v; goto invalid
	:: order[_pid]?recall, _; given[_pid]!v; goto invalid
	fi
}

active proctype directory()
{	bool holds[N];
	bool dirty;
	byte memory;
	byte who, i;

	do
	:: request?drop, who, memory -> holds[who] = false; dirty = false; who = 0
	:: request?want_shared, who, _ ->
		if
		:: dirty ->
			do
			:: holds[i] -> order[i]!recall, 0; given[i]?memory; holds[i] = false; break
			:: else -> i++
			od;
			i = 0; dirty = false
		:: else
		fi;
		holds[who] = true;
		order[who]!data, memory;
		who = 0
	:: request?want_modified, who, _ ->
		do
		:: i == N -> break
		:: i < N && i != who && holds[i] -> order[i]!recall, 0; given[i]?memory; holds[i] = false; i++
		:: else -> i++
		od;
		i = 0; dirty = true;
		holds[who] = true;
		order[who]!data, memory;
		who = 0
	od
}

/* Who writes again and again takes the line from the others; but who reads may keep others from writing. */
ltl holds { []<> cache[0]@modified -> []<> !cache[1]@modified }
ltl broken { [] ((last == 1) -> <> (last == 0)) }
