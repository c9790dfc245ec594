/* assert */
active proctype B() { assert(A:l == 1) }
active proctype A() { byte l; l = 1; (l == 2) }
