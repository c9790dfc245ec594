/* assert */
byte x, z;
active proctype B() { z = 1; assert(x == 1) }
active proctype C() { z = 2 }
active proctype A() { x = 1 }
