// An atomic that ends the claim.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x < 9 :: atomic { x == 2 -> x != 1 -> break } od }
