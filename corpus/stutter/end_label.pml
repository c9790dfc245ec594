/* Q may stop where it waits: the end is valid, and formulas see it repeated for ever as any other. */
byte x;
active proctype P() { x = 1 }
active proctype Q() { end: (x == 2) }
ltl stays { <>[] (x == 1) }
ltl again { []<> (x == 0) }
