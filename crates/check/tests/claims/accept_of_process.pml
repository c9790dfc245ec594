// Accept labels of processes count, too.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> accept: x++ :: x == 3 -> x = 0 od }
never { do :: true od }
