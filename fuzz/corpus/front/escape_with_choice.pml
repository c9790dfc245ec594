/* an escape that is a selection */
byte x;
active proctype P() { { do :: x < 3 -> x++ :: x == 3 -> break od; x = 10 } unless { if :: x == 2 -> x = 20 :: x == 5 -> x = 30 fi; x = 40 } }
active proctype Q() { x == 1; x = 2; x = 5 }
