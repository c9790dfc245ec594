/* assert */
chan q = [2] of { byte };
active proctype C() { byte v; q?v; assert(v == 1) }
active proctype B() { q!2 }
active proctype A() { q!1 }
