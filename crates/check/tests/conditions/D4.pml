/* assert */
chan c = [0] of { bit };
active proctype B() { byte l; l = 1; c!1 }
active proctype A() { byte l; if :: l = 1 :: c?_; assert(false) fi }
