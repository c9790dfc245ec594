/* p */
/* The operations are not where the steps begin: they lie inside an atomic, and at the other end of a handshake. */
chan q = [2] of { byte };
chan c = [0] of { byte };

active proctype A() { byte x; atomic { x = 1; q!1 } }
active proctype B() { c!1 }
active proctype C() { L: c?1; q!2 }

ltl p { !happens(q!) U happens(C@L) }
