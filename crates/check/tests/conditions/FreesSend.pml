/* assert */
chan q = [1] of { byte };
byte x;
active proctype B() { q?1 }
active proctype A() { q!1; if :: x = 1 :: q!2; assert(false) fi }
