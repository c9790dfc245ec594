/* While its provided clause is false a process is not able to move. It is false in one of two states, so weak fairness owes
   P nothing; strong fairness does. */
bit x;
bool done;
active proctype P() provided (x == 1) { done = true }
active proctype Q() { do :: x = 1 - x od }
ltl gets_in { <> done }
