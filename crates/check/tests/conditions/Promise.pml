/* promise */
chan q = [1] of { bit };
active proctype B() { q!1 }
active proctype A() { byte l; xs q; l = 1 }
