/* Who takes `else` has seen that a message is not there; who brings it, or takes what lies before it, may not come first. */
chan q = [2] of { byte };
byte g;
active proctype A() { if :: q?[2] -> g = 1 :: else -> g = 2 fi; assert(g == 1) }
active proctype B() { q!1; q!2 }
active proctype C() { q?1 }
