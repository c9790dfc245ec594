/* [FaragoSchmitt] figure 2: s1 and s3 go round without progress, but depth-first search comes to s3 through progress first. */
active proctype P()
{
s1:	if
	:: true -> goto progress_s2
	:: true -> goto s3
	fi;
progress_s2:	skip;
s3:	true;
	goto s1
}
