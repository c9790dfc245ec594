/* Nobody runs between the statements of an atomic, but B is able to move all the same: before and after it. */
bit x;
bool done;
active proctype A() { do :: atomic { x = 1; x = 0 } od }
active proctype B() { done = true }
ltl finishes { <> done }
