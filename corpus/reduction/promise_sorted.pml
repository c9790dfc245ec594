/* A sorted send is a send. */
chan q = [2] of { byte };
active proctype B() { byte l; l = 1; q!!2 }
active proctype S() { xs q; q!1 }
active proctype R() { xr q; q?1 }
