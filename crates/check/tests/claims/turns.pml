// One move of the claim, one step of the system, in turns.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { x == 0; x == 0; x == 1; x == 1; x == 2 }
