/* assert */
/* Two ways lead to the statement, with different values. */
byte a[2], seen;

active proctype writer()
{	byte i;

	if
	:: skip
	:: i = 1
	fi;
	a[i] = 1
}

active proctype reader()
{
	seen = a[1] + 1;
	assert(seen == 1)
}
