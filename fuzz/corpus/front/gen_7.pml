/* random model, seed 7 */
#define K 3
#define INC(v) v = (v + 1) % K
#define IS(v, w) ((v) == (w))
mtype = { red, green };
byte g0;
pid g1;
byte a0[3];
#ifdef K
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan q0 = [2] of { mtype };
chan c0 = [0] of { byte, byte };
chan c1 = [0] of { byte, byte };
chan qc = [1] of { chan };

active proctype P() {
	q0?_;
	do
	:: INC(g0) ->
		do
		:: 1 > g1
		:: (IS(a0[g1 % 3], 0)) -> (IS(gx, 1))
		:: c1!(gx != 1 -> 2 : _pid) % 2, 1 -> q0!red
		od;
		g1 = g0 % 2
	:: c0?eval(K), _ -> INC(gx)
	od
}

init {
	chan r0 = q0;
	c0!g1, 0 % 2;
	q0?_;
	c1!K % 2, 1
}
