/* C goes round without progress. Whoever lists the steps of B while a step of A is made must not take one for the other:
 * then a step of B counts as known where it is not, and C is never let go. */
byte asked, ready, met, count;
active proctype A()
{
	if
	:: asked = 1; goto stuck
	:: asked = 1
	fi;
	if
	:: asked = enabled(1); goto stuck
	:: ready = 1
	fi;
	false;
stuck:	false
}
active proctype B() { count = 1; count = 2; count = 3; asked == 1; met = 1; false }
active proctype C()
{
	ready == 1 && met == 1;
	do
	:: count == 100 -> progress: skip
	:: met = 1
	od
}
