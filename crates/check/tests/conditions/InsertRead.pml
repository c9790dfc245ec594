/* assert */
chan q = [2] of { byte };
active proctype B() { byte v; q?v; assert(v == 1) }
active proctype A() { q!5; q!!1 }
