/* assert */
chan c = [0] of { bit };
byte y;
active proctype B() { byte l; if :: c?_ :: l = 1 fi }
active proctype C() { if :: c!1 :: else -> assert(y == 1) fi }
active proctype A() { y = 1 }
