/* assert */
chan c = [0] of { byte };
byte x;
active proctype B() { if :: c?1 -> assert(false) :: x == 1 fi }
active proctype C() { c!257 }
active proctype A() { x = 1 }
