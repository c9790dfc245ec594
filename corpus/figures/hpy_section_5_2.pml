/* Nested search with selections by the path: the first search comes to the loop of B by its first option, and leaves it
   without a second search. From the accepting state the loop is entered elsewhere. A second search that chooses anew
   there closes the loop at another state than the first did, and goes on to states that the first has never seen. */
chan c = [0] of { bit };
active proctype A() { end: c?1; skip; goto end }
active proctype B() { if :: c!1 :: skip; accept: skip fi; loop: if :: c!1; goto loop :: skip fi }
