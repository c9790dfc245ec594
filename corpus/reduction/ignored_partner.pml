/* The same, where the cycle is one of handshakes: no process goes round alone. */
chan c = [0] of { bit };
bit x;
active proctype B() { x = 1; assert(x == 0) }
active proctype R() { bit l; do :: c?l od }
active proctype A() { do :: c!1 od }
ltl stays { [] (x == 0) }
ltl sometime { <> (x == 1) }
