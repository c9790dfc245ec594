// A printf is a move.
// claim: holds, 10 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x < 9 :: x == 2 -> printf("here\n") od }
