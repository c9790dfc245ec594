/* runtime */
chan a = [1] of { byte };
chan x = a;
byte y;
active proctype B() { x = 0 }
active proctype A() { if :: y = 1 :: x?5 fi }
