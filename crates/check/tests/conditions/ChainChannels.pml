/* assert */
chan q = [1] of { bit };
active proctype B() { assert(len(q) == 1) }
active proctype A() { byte l; atomic { l = 1; q!1 } }
