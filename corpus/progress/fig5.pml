/* [FaragoSchmitt] figure 5: h is met on another way than the one that the cycle through s was to be closed on. */
active proctype P()
{
progress:	skip;
s:	if
	:: true -> goto a
	:: true -> goto b
	fi;
a:	skip;
	goto h;
b:	skip;
h:	true;
	goto s
}
