// A place inside an atomic that is reached in two ways.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x < 9 :: atomic { if :: x == 3 :: x == 2 fi; x == 2 -> break } od }
