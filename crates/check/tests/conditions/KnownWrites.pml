/* assert */
/* What is received is not what was known before. */
byte a[2], seen;
chan q = [1] of { byte };

active proctype writer()
{	byte i;

	q!1;
	q?i;
	a[i] = 1
}

active proctype reader()
{
	seen = a[1] + 1;
	assert(seen == 1)
}
