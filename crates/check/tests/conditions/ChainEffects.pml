/* assert */
byte x;
active proctype B() { assert(x == 1) }
active proctype A() { byte l; atomic { l = 1; x = 1 } }
