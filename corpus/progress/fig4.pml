/* [FaragoSchmitt] figure 4: a state below s that is met twice on one path closes a cycle itself. */
active proctype P()
{
progress:	skip;
s:	skip;
h:	skip;
	if
	:: true -> goto h
	:: true -> goto s
	fi
}
