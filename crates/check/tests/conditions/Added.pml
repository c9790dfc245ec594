/* p */
bit done;
/* if nothing is fair, P may go round for ever */
active proctype Q() { done = 1 }
active proctype P() { bit v; do :: v = 1 - v od }
ltl p { <> done }
