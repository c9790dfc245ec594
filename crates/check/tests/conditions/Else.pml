/* assert */
byte x, y;
active proctype C() { x = 1 }
active proctype B() { if :: x == 0 -> skip :: else -> assert(y == 1) fi }
active proctype A() { y = 1 }
