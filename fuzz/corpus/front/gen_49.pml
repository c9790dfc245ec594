/* random model, seed 49 */
#define K 3
#define IS(v, w) ((v) == (w))
typedef Msg { byte x; bit y };
Msg m0;
byte g0 = 1;
show short g1;
show byte g2;
chan q0 = [2] of { byte, int, byte };
chan c0 = [0] of { byte };
chan qs = [1] of { Msg };
chan q2 = [1] of { byte, int, byte };
chan qc = [0] of { chan };

inline next(v) {
    return (v + 1) % 2
}

active proctype P() {
	byte x0;
	byte x1;
	chan r0 = q0;
	Msg lm;
	do
	:: g2 = next(g2) ->
		progress0: m0.y--
	:: q0!g2, K % 2, lm.x % 2 ->
		do
		:: else -> lm.y = false
		:: c0!0 -> x1 = next(0); skip
		:: 2 > x1 -> nempty(q2); x0 = x1 % 2
		od
	:: qs?lm
	:: q2?1, g1, m0.x
	:: qc?r0
	od
}

active D_proctype Q() {
	byte x0;
	chan r0 = q0;
	L0: if
	:: IS(g0, 0) ->
		if
		:: nempty(q2) -> q2?_, _, _
		:: else -> g2 = x0 % 2
		fi;
		q0?g1, _, g2
	:: else -> x0 = (x0 + 1) % 2
	fi;
	end_wait: do
	:: IS(x0, 1) -> m0.y = 1
	:: else -> break
	od
}
