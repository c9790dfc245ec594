/* [FaragoSchmitt] figure 8, faked progress: while P stays at its label, Q goes round. By states that is progress, by steps it is
 * none. */
bool there;
bit x;
active proctype P()
{
	do
	:: there = true;
progress:	atomic { there = false }
	od
}
active proctype Q() { do :: atomic { there -> x = 1 - x } od }
