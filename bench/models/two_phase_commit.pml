/* Two-phase commit with crashes: a coordinator, N participants, at most K crashes. A crash loses what is in the inbox
 * and what is not on disk; who comes back asks for the decision. Nobody commits when another one aborts.
 *
 * size             stored  transitions      depth
 * N=1 K=1             569         1056         47
 * N=2 K=0            4083        11146         53
 * N=2 K=1           17353        48288         70
 * N=3 K=0          100612       358582         76
 * N=3 K=1          591265      2129612         93
 * N=3 K=2         2032900      7497347        110
 * N=4 K=0         2941484     12769271         99
 * N=4 K=1        23383616    101662330        116
 */
#ifndef N
#define N 2
#endif
#ifndef K
#define K 1
#endif

mtype = { working, prepared, committed, aborted };
mtype = { prepare, yes, no, ask };

chan inbox[N] = [2] of { mtype };
chan votes = [N] of { byte, mtype };

mtype disk[N] = working;
mtype decision = working;	/* on the coordinator's disk */
byte n_committed, n_aborted, crashes;

inline settle(d)
{
	disk[_pid] = d;
	if
	:: d == committed -> n_committed++
	:: else -> n_aborted++
	fi;
	assert(n_committed == 0 || n_aborted == 0)
}

active [N] proctype participant()
{	mtype m;
	bool asked;

	do
	:: atomic { disk[_pid] == working && inbox[_pid]?[prepare] -> inbox[_pid]?prepare };
		if
		:: disk[_pid] = prepared; votes!_pid, yes
		:: atomic { settle(aborted) }; votes!_pid, no
		fi
	:: atomic { disk[_pid] == working -> settle(aborted) }
	:: atomic { disk[_pid] == prepared && (inbox[_pid]?[committed] || inbox[_pid]?[aborted]) ->
		inbox[_pid]?m; settle(m); m = 0; asked = false }
	:: atomic { disk[_pid] == prepared && asked && nfull(votes) -> votes!_pid, ask; asked = false }
	:: atomic { crashes < K && disk[_pid] != committed && disk[_pid] != aborted ->
		crashes++;
		do
		:: inbox[_pid]?_
		:: empty(inbox[_pid]) -> break
		od };
		atomic {
			if
			:: disk[_pid] == prepared -> asked = true
			:: else -> settle(aborted)
			fi
		}
	:: disk[_pid] == committed || disk[_pid] == aborted -> break
	od;
end:	do
	:: inbox[_pid]?prepare -> votes!_pid, no
	:: inbox[_pid]?committed -> assert(disk[_pid] == committed)
	:: inbox[_pid]?aborted -> assert(disk[_pid] == aborted)
	od
}

active proctype coordinator()
{	byte i, n_yes, p;
	mtype m;

	do
	:: i < N -> inbox[i]!prepare; i++
	:: else -> break
	od;
	i = 0;
	do
	:: n_yes == N -> decision = committed; break
	:: n_yes < N && votes?[_, yes] -> votes??_, yes; n_yes++
	:: n_yes < N && votes?[_, no] -> decision = aborted; break
	:: n_yes < N -> decision = aborted; break		/* waited long enough */
	:: atomic { crashes < K -> crashes++; decision = aborted }; break
	od;
	n_yes = 0;
	do
	:: i < N -> inbox[i]!decision; i++
	:: else -> break
	od;
	i = 0;
end:	do
	:: votes?p, m ->
		if
		:: m == ask -> inbox[p]!decision
		:: else
		fi;
		p = 0; m = 0
	od
}

/* All come to an end; but not always to the same one. */
ltl holds { <> (n_committed + n_aborted == N) }
ltl broken { <> (decision == committed) }
