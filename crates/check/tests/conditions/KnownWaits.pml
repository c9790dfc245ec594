/* assert */
/* What is waited for cannot always be taken, and then the other option can. */
byte a[2], seen;
bool other;

active proctype writer()
{
	if
	:: other -> skip
	:: else -> a[1] = 1
	fi
}

active proctype reader()
{
	seen = a[1] + 1;
	assert(seen == 1)
}
