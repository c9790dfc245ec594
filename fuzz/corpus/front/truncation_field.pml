/* truth: no error: a message field is cut when it is sent, so the receiver compares the cut value. */
chan q = [1] of { byte, short };
chan r = [0] of { byte, byte };
active proctype S() { q!258,70000; r!511,1 }
active proctype R() { short x; q?2,x; assert(x == 4464); r?255,1 }
