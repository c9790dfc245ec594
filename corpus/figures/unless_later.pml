/* What the dynamic repair of a reduction misses if it asks only who stands at an escape: B comes to its `unless` later,
   and A must not be at its receive by then. */
chan c = [0] of { bit };
byte g;
active proctype B() { g = 1; { assert(false) } unless { c!1 } }
active proctype A() { skip; c?1 }
