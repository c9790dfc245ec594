/* assert */
chan q = [1] of { byte };
byte x;
active proctype B() { q!5 }
active proctype A() { if :: x = 1 :: q?5; assert(false) fi }
