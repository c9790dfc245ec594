/* p */
bit x, y;
active proctype B() { y = 1; y = 0 }
active proctype A() { x = 1; x = 0 }
ltl p { [] !(x == 1 && y == 1) }
