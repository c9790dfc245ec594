/* the receiver looks at the length, which tells about the sender too */
chan q = [2] of { byte };
active proctype S() { xs q; q!1 }
active proctype R() { len(q) == 1; q?1 }
