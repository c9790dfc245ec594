/* another process sends */
chan q = [2] of { byte };
active proctype S() { xs q; q!1 }
active proctype T() { q!1 }
active proctype R() { xr q; q?1; q?1 }
