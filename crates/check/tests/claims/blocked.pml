// A claim that cannot move drops the run; nothing is wrong.
// claim: holds, 4 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { x == 0; x == 0; x == 1; x == 3 }
