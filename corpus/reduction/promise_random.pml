/* A receive from the middle is a receive. */
chan q = [2] of { byte };
active proctype B() { byte l; l = 1; if :: q??2 :: empty(q) fi }
active proctype S() { xs q; q!1; q!2 }
active proctype R() { xr q; q?1 }
