// The claim escapes to its end.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { { do :: x < 9 od } unless { x == 2 -> x == 2 } }
