/* assert */
byte x;
active proctype B() { assert(x == 1) }
active proctype A() { x = 1 }
