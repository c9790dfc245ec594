// An atomic of the claim is one move: all of it sees the same state.
// claim: holds, 8 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x < 9 :: atomic { x == 2 -> x == 1 -> break } od }
