/* Every process moves once in each round, in the order against that of their numbers: a lap through all of them takes as
   many rounds as there are processes. */
byte turn = 2;
bit seen;
active proctype A() { do :: turn == 0 -> turn = 2 od }
active proctype B() { do :: turn == 1 -> turn = 0 od }
active proctype C() { do :: turn == 2 -> turn = 1 od }
active proctype D() { bit l; l = 1; seen = 1 }
ltl round { [] <> (turn == 0) }
ltl served { <> seen }
