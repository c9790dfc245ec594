// A claim that comes to an end label has found an error.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x < 2 :: x == 2 -> break od; end: do :: x < 9 od }
