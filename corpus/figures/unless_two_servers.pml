/* What it misses if it asks only for escapes that cannot happen: the escape of B can, with J, who then goes away. */
chan c = [0] of { bit };
chan d = [0] of { bit };
active proctype A() { d!1 }
active proctype B() { { assert(false) } unless { c!1 } }
active proctype J() { if :: c?1 :: d?1 fi }
active proctype K() { skip; c?1 }
