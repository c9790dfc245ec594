/* assert */
chan c = [0] of { bit };
bit g;
active proctype B() { c?g }
active proctype C() { assert(g == 1) }
active proctype A() { byte l; atomic { l = 1; c!1 } }
