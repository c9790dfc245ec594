/* assert */
byte x, y;
active proctype B() { y = 1 }
active proctype A() { if :: x = 1 :: y == 1; assert(false) fi }
