/* deadlock */
byte x, y;
active proctype B() { x = 1 }
active proctype A() provided (x == 0) { y = 1 }
