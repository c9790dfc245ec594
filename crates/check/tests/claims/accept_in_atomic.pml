// Nobody sees the claim inside an atomic.
// claim: holds, 8 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x == 0 :: atomic { x > 0 -> accept: skip } od }
