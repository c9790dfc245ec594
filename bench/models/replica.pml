/* A page of 64 bytes and its replica, kept equal through a log: a state of about 200 bytes of which little changes.
 * N places of the page are written (0 or 1), up to L log entries are under way, and as many acknowledgements.
 *
 * size             stored  transitions      depth
 * N=2 L=1            1224         3793       1334
 * N=2 L=2            6440        22769       9003
 * N=2 L=3           29160       108337      39230
 * N=3 L=2           69030       249621      91189
 * N=3 L=3          644400      2409891     844847
 * N=5 L=2         3047982     11087161    3510259
 * N=4 L=3         8354820     31094329   10243223
 * N=6 L=2        15278416     55497217   16355436
 */
#ifndef N
#define N 2
#endif
#ifndef L
#define L 2
#endif
#define PAGE 64
#define PLACE(i) (((i) * 7) % PAGE)

byte page[PAGE], copy[PAGE];
byte waiting[N];		/* writes of a place that are not acknowledged */
chan log = [L] of { byte, byte, int };
chan acks = [L] of { byte, int };

active proctype primary()
{	byte i; int stamp;

	do
	:: atomic {
		nfull(log) ->
		select (i : 0 .. N - 1);
		page[PLACE(i)] = 1 - page[PLACE(i)];
		waiting[i]++;
		log!i, page[PLACE(i)], stamp;
		stamp = (stamp + 1) % 2;
		i = 0
	   }
	:: atomic {
		acks?i, _ ->
		waiting[i]--;
		i = 0
	   }
	od
}

active proctype replica()
{	byte i, value; int stamp;

	do
	:: log?i, value, stamp;
		copy[PLACE(i)] = value;
		acks!i, stamp;
		i = 0; value = 0; stamp = 0
	od
}

active proctype auditor()
{	byte i;

	do
	:: atomic {
		i < N ->
		assert(waiting[i] > 0 || page[PLACE(i)] == copy[PLACE(i)]);
		i++
	   }
	:: i == N -> i = 0
	od
}

/* A place that is written again and again waits again and again; but the auditor may move alone. */
ltl holds { ([]<> (page[0] == 0) && []<> (page[0] == 1)) -> []<> (waiting[0] > 0) }
ltl broken { [] ((waiting[0] > 0) -> <> (waiting[0] == 0)) }
