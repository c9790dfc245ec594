/* Readers and writers: N processes read together or write alone. Who wants to write stands in a queue, and the first of
 * it waits until nobody reads; while somebody waits nobody begins to read.
 *
 * size      stored  transitions      depth
 * N=2           25           47         24
 * N=4          521         1357        122
 * N=6        17889        50971       2590
 * N=7       127424       367102      17909
 * N=8      1025969      2966105     136535
 */
#ifndef N
#define N 2
#endif

chan queue = [N] of { byte };	/* who waits to write */
byte readers;
byte writer = 255;		/* nobody */

active [N] proctype user()
{
	do
	:: atomic { writer == 255 && empty(queue) -> readers++ };
	   assert(writer == 255);
	   readers--
	:: queue!_pid;
	   atomic { queue?[eval(_pid)] && writer == 255 && readers == 0 -> writer = _pid; queue?_ };
	   assert(writer == _pid && readers == 0);
	   writer = 255
	od
}

#ifndef NOCLAIM
/* Needs weak fairness: a queue moves. */
ltl holds { [] (nempty(queue) -> <> (writer != 255)) }
/* There need not be a moment in which nobody is there. */
ltl broken { [] ((readers > 0) -> <> (readers == 0 && empty(queue) && writer == 255)) }
#endif
