/* P has ended, Q waits for ever. That is an invalid end state; for formulas the last state is repeated for ever. */
byte x;
active proctype P() { x = 1 }
active proctype Q() { (x == 2) }
ltl stays { <>[] (x == 1) }
ltl again { []<> (x == 0) }
