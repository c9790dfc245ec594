/* nested selections with an else each, inside a d_step */
byte x; active proctype P(){ d_step { x=1; if :: if :: x==2 -> x=3 :: else -> x=4 fi :: else -> x=5 fi }; assert(x==4) }
