/* progress states */
bit x;
bit y;
active proctype Q() { do :: y = 1 - y od }
active proctype P() { do :: x = 1; progress: x = 0 od }
