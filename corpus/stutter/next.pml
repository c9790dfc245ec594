/* X looks one step ahead, and where no step is left it looks at the same state again. */
byte x;
active proctype P() { x = 1; x = 2 }
ltl counts { X (x == 1) && X X (x == 2) && X X X X (x == 2) }
ltl too_late { X X X X (x == 1) }
