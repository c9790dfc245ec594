/* jumps into and between atomics */
byte x;
active proctype P() { goto M; atomic { x = 1; M: x = 2; x = 3; if :: x == 3 -> goto N :: x == 4 fi; x = 5 }; N: atomic { x = 6; goto K; x = 7; K: x = 8 } }
active proctype Q() { x = 4; x == 3 -> x = 9 }
