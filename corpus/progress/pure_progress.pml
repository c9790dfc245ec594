/* p0 and p1 by steps that make progress beside q0 and q1 without: who looks at P alone misses that Q goes round. */
bit x;
bit y;
active proctype P() { progress: do :: x = 1 - x od }
active proctype Q() { do :: y = 1 - y od }
