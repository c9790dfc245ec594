/* a d_step chooses by itself, also in a D_proctype */
byte x; active D_proctype P(){ d_step { x=1; if :: x==1 -> x=2 :: x>0 -> x=3 fi }; x=4 }
