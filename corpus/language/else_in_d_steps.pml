/* an else inside a d_step is about its own selection */
byte x;
active proctype P(){ if :: d_step { if :: x==1 -> x=2 :: else -> x=3 fi } :: d_step { if :: x==1 -> x=4 :: else -> x=5 fi } fi }
