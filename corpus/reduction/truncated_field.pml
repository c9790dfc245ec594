/* The message that is handed over is what fits into the field: 257 is 1. */
chan c = [0] of { byte };
byte x;
active proctype A() { c!257 }
active proctype B() { if :: c?1 -> assert(false) :: x == 1 fi }
active proctype C() { x = 1 }
