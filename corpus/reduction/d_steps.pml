/* A d_step that begins with a choice, with a receive; one that ends a body, one behind a loop. */
chan q = [1] of { byte };
byte g;
active proctype A() { q!1; do :: g == 1 -> break od; d_step { g = g + 1; g = g * 2 } }
active proctype B() { byte v; d_step { q?v; g = v }; d_step { if :: g == 1 -> v = 2 :: g == 4 -> v = 3 fi; g = g + v } }
active proctype C() { g == 7; assert(false) }
