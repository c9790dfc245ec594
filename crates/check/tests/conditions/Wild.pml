/* assert */
byte x, y;
active proctype P() { do :: x == 1 od }
active proctype B() { !enabled(0) && y == 0; assert(false) }
active proctype A() { x = 1; y = 1 }
