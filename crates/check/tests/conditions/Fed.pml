/* assert */
chan q = [1] of { bit };
active proctype B() { assert(false) }
active proctype A() { do :: q!1; q?_ od }
