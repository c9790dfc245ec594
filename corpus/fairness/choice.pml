/* Fairness is about processes: the one that moves need not ever choose the second option. */
bool done;
bit x;
active proctype P() { do :: x = 1 - x :: done = true; break od }
ltl chooses { <> done }
