/* a poll by another process */
chan q = [2] of { byte };
active proctype S() { xs q; q!1 }
active proctype R() { q?[1]; q?1 }
