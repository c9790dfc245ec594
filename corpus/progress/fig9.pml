/* [FaragoSchmitt] figure 9: two processes that touch nothing in common; as states, progress is nearly everywhere, as steps it
 * is one step of each round. */
bit x;
bit y;
active proctype P() { do :: x = 1; progress: x = 0 od }
active proctype Q() { do :: y = 1; progress: y = 0 od }
