/* Cache coherence with a directory: N caches read a line together or one of them writes it. The directory keeps the
 * names of those that have the line in a channel, and calls them back one by one.
 *
 * size      stored  transitions      depth
 * N=2          223          361         89
 * N=3          961         1864        283
 * N=4         6229        15617       1510
 * N=5        60991       188986      14081
 * N=6       760963      2775097     154031
 */
#ifndef N
#define N 2
#endif

mtype = { want_shared, want_modified, drop, recall, data };

chan request = [0] of { mtype, byte };	/* what, from whom */
chan order[N] = [0] of { mtype };	/* the line, or that it must be given up */
chan given[N] = [0] of { byte };	/* it is */
byte writers;
bool calls;				/* a cache is called back */

active [N] proctype cache()
{
invalid:
	if
	:: request!want_shared, _pid; order[_pid]?data; goto shared
	:: request!want_modified, _pid; order[_pid]?data; goto modified
	fi;
shared:
	assert(writers == 0);
	if
	:: request!drop, _pid; goto invalid
	:: order[_pid]?recall; given[_pid]!0; goto invalid
	fi;
modified:
	writers++;
	assert(writers == 1);
	if
	:: writers--; request!drop, _pid; goto invalid
	:: order[_pid]?recall; writers--; given[_pid]!0; goto invalid
	fi
}

active proctype directory()
{	chan has = [N] of { byte };	/* those that have the line */
	byte who = 255, other = 255;
	bool dirty;

	do
	:: request?drop, who -> has??eval(who); dirty = false; who = 255
	:: request?want_shared, who ->
		if
		:: dirty -> has?other; calls = true;
			if
			:: order[other]!recall; given[other]?_
			:: request?drop, eval(other)
			fi;
			calls = false; other = 255; dirty = false
		:: else
		fi;
		order[who]!data; has!who; who = 255
	:: request?want_modified, who ->
		do
		:: has?other; calls = true;
			if
			:: order[other]!recall; given[other]?_
			:: request?drop, eval(other)
			fi;
			calls = false; other = 255
		:: empty(has) -> break
		od;
		order[who]!data; has!who; dirty = true; who = 255
	od
}

#ifndef NOCLAIM
/* Needs weak fairness: what is called back is given. */
ltl holds { [] (calls -> <> !calls) }
/* The line need not be written again. */
ltl broken { [] <> (writers == 1) }
#endif
