/* An escape within an escape: the outer one goes first, and is enabled by another process. */
bit x, y;
byte n;
active proctype A() { { { n = 1; n = 2 } unless { x == 1 -> n = 3; n = 4 } } unless { y == 1 -> n = 5 } }
active proctype B() { x = 1 }
active proctype C() { (n == 3) -> y = 1 }
active proctype D() { byte l; l = 1; l = 2 }
ltl not_four { [] (n != 4) }
ltl not_five { [] (n != 5) }
