// The claim does not follow the run to the process's label again.
// claim: holds, 7 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> accept: x = 0 od }
never { do :: x < 3 od }
