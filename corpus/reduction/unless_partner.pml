/* The partner's next step enables the escape: the handshake behind it is then too late. */
chan c = [0] of { bit };
bit stop;
byte n;
active proctype A() { { c!1; c!1; n = 1 } unless { stop == 1 -> n = 2 } }
active proctype B() { c?_; stop = 1; if :: c?_ :: n == 2 fi; assert(n == 2) }
ltl escapes { [] (n != 1) }
