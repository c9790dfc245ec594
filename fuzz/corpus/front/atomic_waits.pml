/* an atomic that loses the floor and gets it back */
byte x; byte done;
active proctype P() { x = 1; done++ }
active [2] proctype Q() { do :: x == 0 -> skip :: x == 1 -> break od; done++ }
init { atomic { skip; (done == 3); x = 2 }; assert(x == 2) }
