/* assert */
chan q = [1] of { bit };
active proctype B() { nempty(q); assert(false) }
active proctype A() { q!1; q?_ }
