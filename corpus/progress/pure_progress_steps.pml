/* The same where P leaves its label after each step. */
bit x;
bit y;
active proctype P() { do :: x = 1; progress: x = 0 od }
active proctype Q() { do :: y = 1 - y od }
