/* the same beside another option */
byte x;
active proctype P(){ if :: x==0 -> x=1 :: d_step { if :: x>0 -> x=10 :: else fi; x=11 } fi }
