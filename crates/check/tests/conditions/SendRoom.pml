/* assert */
chan q = [1] of { bit };
active proctype B() { nfull(q); assert(false) }
active proctype A() { q!1 }
