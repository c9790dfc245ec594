// An escape goes before what it guards.
// claim: holds, 6 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { { do :: x < 9 od } unless { x == 2 -> x == 3 } }
