/* progress steps */
bit x;
bit y;
active proctype Q() { do :: y = 1 - y od }
active proctype P() { do :: atomic { skip; progress: x = 1 - x } od }
