/* A cycle of progress states only. */
bit x;
active proctype P() { do :: x = 0; progress1: x = 1; goto progress2 od; progress2: x = 0; progress3: x = 1; goto progress2 }
