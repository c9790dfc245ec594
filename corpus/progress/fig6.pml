/* [FaragoSchmitt] figure 6: the cycle that is found, between t2 and t3, does not contain s, the first state of one. */
active proctype P()
{
progress:	skip;
s:	skip;
t2:	skip;
t3:	if
	:: true -> goto t2
	:: true -> goto s
	fi
}
