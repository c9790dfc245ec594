/* assert */
chan q = [1] of { bit };
active proctype B() { assert(len(q) == 1) }
active proctype A() { q!1 }
