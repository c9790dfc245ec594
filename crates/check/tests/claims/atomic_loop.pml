// A loop inside an atomic of the claim.
// claim: holds, 8 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: atomic { x == 0; do :: x == 1 :: x == 0 -> break od } :: x > 0 od }
