// Every skip of a claim lets the system take a step.
// claim: holds, 3 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: skip; skip; x == 0 -> break od }
