/* assert */
byte x;
proctype P() { byte l = x; assert(l == 1) }
active proctype M() { run P() }
active proctype A() { x = 1 }
