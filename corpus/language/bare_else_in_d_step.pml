/* a d_step that begins with else */
byte x; active proctype P(){ if :: x == 1 -> x = 2 :: d_step { else; x = 3 } fi }
