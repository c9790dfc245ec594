/* Section 7.3.4 of [Schoot7]: fairness as a formula. Of fair runs every station is up again and again, so the formula
   holds. It looks at all of them, but it is a boolean combination of formulas that look at one each: it does not matter
   which of two stations goes up first. */
#define N 4
bit up[N];
byte works[N];
active [N] proctype Station()
{
	do
	:: works[_pid] = 1; up[_pid] = 1; works[_pid] = 0; up[_pid] = 0
	od
}
ltl all_or_none { ([]<> (up[0] == 1) && []<> (up[1] == 1) && []<> (up[2] == 1)) -> []<> (up[3] == 1) }
