/* random model, seed 23 */
// small on purpose: everything is counted
#define K 2
#define IS(v, w) ((v) == (w))
typedef Msg { byte x; byte y };
Msg m0;
byte g0;
local bool g1;

inline step(v) {
	byte il;
	skip
}

active proctype P() {
	bit x0;
	Msg lm;
	m0.y = lm.y % 2 unless {
		(m0.y == 1)
	};
	end_wait: do
	:: break
	:: g0 = (g0 + 1) % 3 ->
		{
			g0 = (g0 + 1) % 3;
			lm.y = (lm.y + 1) % 2
		} unless {
			(IS(m0.x, 0) -> 2 > lm.x : m0.x != 0)
		}
	od
}

active proctype Q() {
	byte x0 = 1;
	Msg lm;
	do
	:: (IS(m0.x, 0) -> !g1 : 1 > lm.y)
	:: do
		:: if
			:: m0.x < 1 ->
				step(lm.y)
			:: (IS(m0.x, 1) || g1) ->
				do
				:: break
				:: (!(lm.y == 0))
				od;
				m0.x = (m0.x + 1) % 2
			fi
		:: (2 >= m0.y) ->
			g1--;
			// a remark; with a separator
			lm.y = g0 % 2
		od ->
		x0 = (x0 + 1) % 2;
		step(g0)
	:: IS(m0.x, 0) ->
		break
	od
}
never {
    do
    :: (m0.x == 0)
    :: pc_value(0) > 1 -> break
    od
}
