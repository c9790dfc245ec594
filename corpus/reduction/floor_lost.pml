/* At the handshake the floor goes to the receiver, which is in an atomic as well and blocks; then anybody may move. */
chan c = [0] of { bit };
byte g;
active proctype A() { atomic { g = 1; c!1; g = g + 1; assert(g == 2) } }
active proctype B() { byte l; atomic { c?_; l = g; (g >= 2); assert(l == 1) } }
active proctype C() { byte l; l = 1; g = 7 }
