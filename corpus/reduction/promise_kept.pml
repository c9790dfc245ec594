/* Both promises are kept, and nobody else asks about the other side. */
chan q = [2] of { byte };
byte x;
active proctype S() { xs q; q!1; nfull(q); q!2 }
active proctype R() { byte v; xr q; q?v; nempty(q); q?v; x = v; assert(v == 2) }
active proctype Z() { byte l; l = 1; l = 2 }
