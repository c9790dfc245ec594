// A whole atomic of a process is one step: the claim sees no state inside.
// claim: holds, 1 stored
byte x;
active proctype P() { do :: atomic { x = 1; x = 2; x = 0 } od }
never { do :: x == 0 :: x != 0 -> break od }
