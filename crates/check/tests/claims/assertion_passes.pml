// One that holds is a move like any other.
// claim: holds, 8 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: assert(x < 4) od }
