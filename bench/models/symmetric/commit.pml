/* Two-phase commit: a coordinator and N participants, again and again. Each votes, all votes are counted, and all do
 * what was decided; one that votes no gives up by itself.
 *
 * size      stored  transitions      depth
 * N=2          661         1332        119
 * N=3         5637        14418        160
 * N=4        53901       160724        201
 * N=5       573633      1885398        242
 * N=6      6866813     23846280        283
 */
#ifndef N
#define N 2
#endif

mtype = { idle, asking, commit, abort };

mtype phase = idle;
chan vote = [N] of { byte, bool };	/* who, and what */
chan done = [N] of { byte };		/* who has done what was decided */
byte committed;				/* how many have, in this round */

active [N] proctype participant()
{	bool yes;

	do
	:: phase == asking ->
		if
		:: yes = true
		:: yes = false
		fi;
		vote!_pid, yes;
		if
		:: phase == commit -> assert(yes); committed++
		:: phase == abort
		fi;
		yes = false;
		done!_pid
	od
}

active proctype coordinator()
{	byte n, who;
	bool yes, all;

	do
	:: phase = asking;
	   all = true;
	   do
	   :: n < N -> vote?who, yes; all = all && yes; n++
	   :: else -> break
	   od;
	   who = 255; yes = false; n = 0;
	   if
	   :: all -> phase = commit
	   :: else -> phase = abort
	   fi;
	   do
	   :: n < N -> done?who; n++
	   :: else -> break
	   od;
	   who = 255; n = 0;
	   assert(committed == 0 || committed == N);
	   committed = 0;
	   phase = idle
	od
}

#ifndef NOCLAIM
/* Needs weak fairness: a round comes to its end. */
ltl holds { [] ((phase == asking) -> <> (phase == commit || phase == abort)) }
/* A round need not end well. */
ltl broken { [] ((phase == asking) -> <> (phase == commit)) }
#endif
