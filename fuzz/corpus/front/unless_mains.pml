/* a d_step, an inline and a loop as the main part of unless */
byte x, y;
inline body() { x++; y = x }
active proctype P() { d_step { x = 1; y = 2 } unless { y == 7 }; body() unless { y == 3 }; do :: x < 4 -> x++ :: x > 2 -> break od unless { y == 4 } }
active proctype Q() { y = 7; y = 3; y = 4 }
