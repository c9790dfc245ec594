// A d_step of the claim takes the first option that can run.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x < 9 :: d_step { x == 2 -> if :: x == 1 :: else fi } -> break od }
