/* A token bus: a station that wants to send asks for the token, in a queue, and gets it from the one that holds it; it
 * sends to whoever asks next, and keeps the token until somebody asks for it.
 *
 * size      stored  transitions      depth
 * N=3         2026         4072        457
 * N=4       144037       374281      23395
 * N=5     16192856     51233596    2241577
 * N=6            0            0          0
 * N=7            0            0          0
 */
#ifndef N
#define N 3
#endif

chan asks = [N] of { byte };	/* who wants the token */
chan token[N] = [0] of { byte };	/* handed over, with the name of the one that had it */
byte holder = 255;
byte from[N] = 255;		/* from whom each got it last */

active [N] proctype station()
{	byte to;

	do
	:: asks!_pid;
	   if
	   :: atomic { holder == 255 && asks?[eval(_pid)] -> asks?_; holder = _pid }
	   :: token[_pid]?from[_pid] -> holder = _pid
	   fi;
	   assert(holder == _pid);
	   asks?to;
	   token[to]!_pid;
	   to = 255
	od
}

#ifndef NOCLAIM
/* Needs weak fairness: the token is handed on. */
ltl holds { [] (len(asks) == N - 1 -> <> (len(asks) < N - 1)) }
/* The queue need not become empty. */
ltl broken { [] (nempty(asks) -> <> empty(asks)) }
#endif
