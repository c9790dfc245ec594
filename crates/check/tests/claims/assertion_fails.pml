// An assertion of the claim that fails is the violation.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: assert(x < 3) od }
