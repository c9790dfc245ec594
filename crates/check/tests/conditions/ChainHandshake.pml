/* assert */
chan c = [0] of { bit };
bit g, x;
active proctype B() { c?g; do :: x == 1 od }
active proctype C() { assert(g == 1); do :: x == 1 od }
active proctype A() { byte l; atomic { l = 1; c!1 } }
