/* How many processes there are is a guard: who dies and who is made changes it. */
byte x;
proctype P() { byte l; l = 1 }
active proctype M() { run P(); (_nr_pr == 2); x = 1 }
active proctype N() { byte l; l = 1; (_nr_pr == 3); assert(x == 1) }
ltl made { <> (x == 1) }
