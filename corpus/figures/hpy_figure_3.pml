/* Nested search with selections by the path: a second search that goes on through the path of the first, and chooses
   anew where it does, takes other steps than the first did and does not come back to its seed. */
chan c = [0] of { bit };
active proctype A() { accept_0: c?1; accept_1: skip; goto accept_0 }
active proctype B() { again: c!1; skip; goto again }
