/* A sliding window protocol, go-back-n, over channels that lose messages: window N, sequence numbers modulo N+1,
 * channels of capacity C. What is sent counts modulo 3(N+1), so a message accepted out of order is noticed.
 *
 * size             stored  transitions      depth
 * N=1 C=1            2742         6979        353
 * N=1 C=2            8892        28627       1824
 * N=2 C=1           16479        43651       1838
 * N=2 C=2           96300       327574      18627
 * N=2 C=3          341469      1264042      62111
 * N=2 C=4         1024560      3937330     191471
 * N=2 C=6         7000587     27726553    1331294
 * N=2 C=7        16725051     66700441    3322056
 */
#ifndef N
#define N 1
#endif
#ifndef C
#define C 2
#endif
#define M (N + 1)
#define V (3 * (N + 1))

chan data = [C] of { byte, byte };
chan acks = [C] of { byte };

active proctype sender()
{	byte base, next, shift, a;	/* base and next count values; what travels is their remainder */

	do
	:: (next + V - base) % V < N && nfull(data) ->
		data!next % M, next;
		next = (next + 1) % V
	:: acks?a ->		/* a: the sequence number that is expected next */
		shift = (a + M - base % M) % M;
		assert(shift <= (next + V - base) % V);
		base = (base + shift) % V;
		a = 0; shift = 0
	:: next != base && nfull(data) ->	/* a timer that may run out at any time: send all again */
		atomic {
			shift = base;
			do
			:: shift != next && nfull(data) -> data!shift % M, shift; shift = (shift + 1) % V
			:: shift == next || full(data) -> break
			od;
			shift = 0
		}
	od
}

active proctype receiver()
{	byte expected, s, v;

	do
	:: data?s, v ->
		if
		:: s == expected % M ->
			assert(v == expected);
progress:		expected = (expected + 1) % V
		:: else
		fi;
		s = 0; v = 0;
		acks!expected % M
	od
}

active proctype thief()
{
	do
	:: data?_, _
	:: acks?_
	od
}

/* A channel that is full and empty again and again loses one message at a time; but the thief may take all of them. */
ltl holds { ([]<> (len(data) == C) && []<> (len(data) == 0)) -> []<> (len(data) == 1) }
ltl broken { [] ((len(data) == 1) -> <> (len(acks) == 1)) }
