/* assert */
byte x = 1, y;
active proctype C() { x = 0 }
active proctype B() { { assert(y == 1) } unless { x == 1 } }
active proctype A() { y = 1 }
