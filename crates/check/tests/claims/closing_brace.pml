// The closing brace is the violation, at once.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x < 9 :: x == 2 -> break od }
