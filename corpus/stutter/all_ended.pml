/* All processes end with x == 1: the last state is repeated for ever. */
byte x;
active proctype P() { x = 1 }
active proctype Q() { skip }
ltl stays { <>[] (x == 1) }
ltl again { []<> (x == 0) }
