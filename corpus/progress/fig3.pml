/* [FaragoSchmitt] figure 3: two progresses lead to the cycle at s0. With two allowed, path 2 comes to s1 first and has none
 * left; with three allowed, path 1 comes to s2 first and path 2 ends there, so that path 3 gets through. */
bit x;
active proctype P()
{
	if
	:: true -> goto progress_a1	/* path 1 */
	:: true -> goto progress_b1	/* path 2 */
	:: true -> goto progress_c1	/* path 3 */
	fi;
progress_a1:	skip;
progress_a2:	skip;
progress_a3:	skip;
	goto s2;
progress_b1:	skip;
	goto s2;
progress_c1:	skip;
	goto s1;
s2:	skip;
progress_d1:	skip;
s1:	skip;
progress_e1:	skip;
s0:	x = 1 - x;
	goto s0
}
