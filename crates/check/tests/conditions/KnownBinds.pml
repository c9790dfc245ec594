/* assert */
/* The second field is bound where the first one says. */
byte a[2], seen;
chan q = [1] of { byte, byte };

active proctype writer()
{	byte i;

	q!1,1;
	q?i,a[i]
}

active proctype reader()
{
	seen = a[1] + 1;
	assert(seen == 1)
}
