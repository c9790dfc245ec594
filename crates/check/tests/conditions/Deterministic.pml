/* assert */
byte x, y;
D_proctype P() { if :: y = 1; assert(false) :: x == 1 fi }
proctype A() { x = 1 }
init { atomic { run P(); run A() } }
