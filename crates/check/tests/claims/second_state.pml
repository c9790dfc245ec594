// The claim moves first, so its second move sees the state after one step.
// claim: holds, 2 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { true; x == 1 }
