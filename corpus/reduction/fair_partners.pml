/* Whether C can send depends on where two others stand. Both may be away again and again: a weakly fair run then owes C
   nothing, though each of them is always on its way back. */
chan c = [0] of { bit };
bit done;
active [2] proctype R() { bit v; do :: c?v :: v = 1; v = 0 od }
active proctype C() { c!1; done = 1 }
ltl sent { <> done }
