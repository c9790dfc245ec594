// The claim moves first: it sees the initial state.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { x == 0 }
