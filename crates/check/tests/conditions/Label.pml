/* assert */
active proctype B() { assert(A@there) }
active proctype A() { byte l; l = 1; there: (l == 2) }
