bool busy;
byte n;

active proctype user()
{
again:
	if
	:: n < 2 -> atomic { !busy -> busy = true; n++ }; busy = false; goto again
	:: else -> d_step { n = 0; printf("<done & \"dusted\">\n") }
	fi;
end_here:
	do
	:: busy
	od
}

never {
	do
	:: n > 1 -> break
	:: else
	od;
accept_it:
	do
	:: busy
	od
}

ltl calm { [] (busy -> <> !busy) }
