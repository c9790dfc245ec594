/* p weak */
chan c = [0] of { bit };
bit done;
/* whether a sender finds a partner depends on both */
active [2] proctype R() { bit v; do :: c?v :: v = 1; v = 0 od }
active proctype C() { c!1; done = 1 }
ltl p { <> done }
