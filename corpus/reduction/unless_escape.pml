/* The escape is a handshake: it can be taken where its partner stands ready, and then nothing else can. */
chan c = [0] of { bit };
byte n;
active proctype A() { { n = 1; n = 2; n = 3 } unless { c!1 -> assert(n != 2) } }
active proctype B() { byte l; l = 1; c?_; l = 2 }
ltl ends { <> (n == 3) }
