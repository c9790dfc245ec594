/* assert */
byte x;
active proctype B() { byte l; l = 1; assert(x == 1) }
active proctype A() { x = 1 }
