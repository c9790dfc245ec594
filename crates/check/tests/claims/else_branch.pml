// An else of the claim.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x == 0 :: x == 1 :: else -> if :: x == 3 -> break :: else fi od }
