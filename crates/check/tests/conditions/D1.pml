/* assert */
byte x, y, z;
active proctype B() { z = 1 }
active proctype C() { z = 2 }
active proctype A() { if :: x = 1 :: y = 1; assert(false) fi }
