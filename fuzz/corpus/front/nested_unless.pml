/* the outer escape goes first */
byte x;
active proctype P() { { x = 1; { x = 2; x = 3 } unless { x == 9 -> x = 10 }; x = 4 } unless { x == 5 -> x = 6 }; x = 7 }
active proctype Q() { if :: x = 9 :: x = 5 :: skip fi }
