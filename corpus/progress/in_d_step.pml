/* A label inside a d_step marks it: nobody sees a process there. */
byte x;
active proctype P() { do :: d_step { x = 0; progress: x = 1 } od }
