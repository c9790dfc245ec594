// Where an atomic of a process has to wait, the claim moves.
// claim: violated
byte x, y;
active proctype P() { do :: atomic { x = 1; y == 1; x = 0 } od }
active proctype Q() { do :: y = 1 - y od }
never { do :: x == 0 :: x == 1 -> x == 1 -> break od }
