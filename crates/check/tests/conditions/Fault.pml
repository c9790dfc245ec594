/* assert */
active proctype B() { assert(false) }
active proctype A() { byte a[2]; byte l = 2; a[l] = 1 }
