/* A goes round by itself for ever. What B does must not be left out each time. */
bit x;
active proctype B() { x = 1; assert(x == 0) }
active proctype A() { bit l; do :: l = 1 - l od }
ltl stays { [] (x == 0) }
ltl sometime { <> (x == 1) }
