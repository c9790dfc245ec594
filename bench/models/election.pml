/* Leader election in a one-way ring by Chang and Roberts: N nodes with different names, each sends its name, passes on
 * larger ones and drops smaller ones; who sees its own name again leads. Names go down along the ring, the arrangement
 * with the most messages, and who starts the election is open.
 *
 * size             stored  transitions      depth
 * N=3                 655         1490         52
 * N=4                7073        21475         79
 * N=5               88799       337488        111
 * N=6             1202741      5487805        148
 * N=7            17054035     90807066        190
 */
#ifndef N
#define N 3
#endif

mtype = { candidate, leader };
chan link[N] = [N] of { mtype, byte };
byte leaders;

active [N] proctype node()
{	byte name = N - _pid, heard, chief;
	bool takes_part;

end:	do
	:: !takes_part && chief == 0 ->
		takes_part = true;
		link[(_pid + 1) % N]!candidate(name)
	:: link[_pid]?candidate(heard) ->
		if
		:: heard > name ->
			takes_part = true;
			link[(_pid + 1) % N]!candidate(heard)
		:: heard < name ->
			if
			:: !takes_part ->
				takes_part = true;
				link[(_pid + 1) % N]!candidate(name)
			:: else
			fi
		:: heard == name ->
			leaders++;
			assert(leaders == 1 && name == N);
			chief = name;
			link[(_pid + 1) % N]!leader(name)
		fi;
		heard = 0
	:: link[_pid]?leader(heard) ->
		if
		:: heard == name
		:: else ->
			chief = heard;
			link[(_pid + 1) % N]!leader(heard)
		fi;
		heard = 0
	od
}

/* Once a message is under way there will be a leader; but not every node has to see two messages wait. */
ltl holds { [] ((len(link[1]) >= 1) -> <> (leaders == 1)) }
ltl broken { <> (len(link[1]) == 2) }
