/* a loop made of jumps inside a d_step; the other process may write before and after it */
byte x, y;
active proctype P() { d_step { x = 0; again: x++; if :: x < 5 -> goto again :: else fi; y = x }; assert(y == 5) }
active proctype Q() { y = 1; x = 2 }
