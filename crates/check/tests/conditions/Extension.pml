/* assert */
/* p goes round for ever, and q waits for a message that p could send but does not: q's other option is left out of
   every leap, unless where p's loop closes. */
chan c = [1] of { bit };
bit f;

active proctype p()
{
	bit b;
	do
	:: b = 1 - b
	:: f == 1 -> c!1
	od
}

active proctype q()
{
	if
	:: c?1; f = 0
	:: assert(false)
	fi
}
