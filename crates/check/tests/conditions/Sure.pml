/* assert */
chan q = [1] of { bit };
chan c = [1] of { bit };
active proctype A() { c!0; atomic { nfull(q) -> L: c!1 } }
active proctype B() { c?_ }
active proctype D() { assert(!(A@L)) }
