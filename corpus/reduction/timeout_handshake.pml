/* A handshake that waits is no reason to go on: `timeout` comes when it can no longer happen. */
chan c = [0] of { bit };
byte g;
active proctype A() { if :: c!1 -> g = 1 :: timeout -> g = 2 fi }
active proctype B() { byte l; if :: l = 1; c?_ :: l = 2 fi }
active proctype C() { byte l; l = 1; (g == 2); assert(false) }
