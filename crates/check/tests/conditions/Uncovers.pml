/* assert */
chan q = [2] of { byte };
byte x;
active proctype B() { q?1 }
active proctype A() { q!1; q!2; if :: x = 1 :: q?2; assert(false) fi }
