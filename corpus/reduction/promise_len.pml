/* Who asks how long it is asks about both sides. */
chan q = [2] of { byte };
byte n;
active proctype B() { byte l; l = 1; n = len(q); assert(n < 2) }
active proctype S() { xs q; q!1; q!2 }
active proctype R() { xr q; q?1 }
