/* assert */
chan q = [1] of { byte }, r = [0] of { byte };
active proctype C() { q!5 }
active proctype B() { if :: r?1 :: q?5; assert(false) fi }
active proctype A() { r!1 }
