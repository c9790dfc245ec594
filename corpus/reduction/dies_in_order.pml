/* Only the youngest can die, and its number is used again. */
byte x;
proctype P() { byte l; l = 1; x = _pid }
active proctype M() { run P(); (x == 1); (_nr_pr == 1); x = 0; run P(); (x == 1); assert(_nr_pr == 1) }
