/* assert */
byte x;
active proctype B() { x = 1 }
active proctype A() { byte l; atomic { l = 1; if :: x == 1 -> assert(false) :: else fi } }
