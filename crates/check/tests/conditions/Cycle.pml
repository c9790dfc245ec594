/* assert */
active proctype B() { assert(false) }
active proctype A() { bit l; do :: l = 1 - l od }
