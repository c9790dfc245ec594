// Nobody sees a label inside an atomic.
// claim: holds, 5 stored
byte x;
active proctype P() { do :: atomic { x < 3 -> accept: x++; skip } :: x == 3 -> x = 0 od }
never { do :: true od }
