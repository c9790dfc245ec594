/* `else` beside a send without slots: whether there is a partner. */
chan c = [0] of { bit };
byte g;
active proctype A() { if :: c!1 -> g = 1 :: else -> g = 2 fi }
active proctype B() { byte l; l = 1; c?_ }
active proctype C() { byte l; l = 1; (g == 1); assert(false) }
