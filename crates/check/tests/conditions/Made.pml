/* assert */
chan q = [1] of { bit };
active proctype B() { end: do :: assert(false) od }
active proctype A() { do :: run C(); q?_; _nr_pr == 2 od }
proctype C() { q!1 }
