/* assert */
chan q = [1] of { byte };
byte x;
active proctype B() { q!1 }
active proctype A() { if :: x = 1 :: q?1; assert(false) fi }
