/* What a process begins with is read when it is made: the argument and the initial value at once. */
byte x;
proctype P(byte n) { byte l = x; assert(l == n); assert(l == 2) }
active proctype M() { run P(x) }
active proctype A() { x = 1; x = 2 }
