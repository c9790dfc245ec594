/* one_first */
/* Two steps that are seen, in processes that have nothing to do with each other, while a third goes round: taken in one leap
   they would be seen at once. */
bit x, y;

active proctype p()
{
	bit b;
	do
	:: b = 1 - b
	od
}

active proctype q()
{
	x = 1
}

active proctype r()
{
	y = 1
}

ltl one_first { [] !(x == 1 && y == 0) }
