/* From an atomic that is local into one that is not: the jump keeps the floor. */
byte g;
active proctype B() { g = 5; assert(g == 5) }
active proctype A() { byte l; atomic { l = 1; goto into }; g = 9; atomic { l = 2; into: g = 1; g = 2 }; l = 3 }
ltl not_nine { [] (g != 9) }
ltl not_one { [] (g != 1) }
