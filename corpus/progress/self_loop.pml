/* A loop at a label: progress at every step, as states and as steps. */
bit x;
active proctype P() { progress: do :: x = 1 - x od }
