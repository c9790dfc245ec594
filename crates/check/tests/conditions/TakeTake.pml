/* assert */
chan q = [1] of { bit };
active proctype B() { q?_; assert(false) }
active proctype A() { q!1; q?_ }
