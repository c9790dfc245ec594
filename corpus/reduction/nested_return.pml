/* A part without accepting states is left by the first search, and entered again by the second on its way round. */
byte s;
bit y;
active proctype A() { do :: s == 0 -> s = 1 :: s == 0 -> s = 2 :: s == 1 -> s = 3 :: s == 2 -> s = 1; accept: s = 2 :: s == 3 -> s = 2 od }
active proctype B() { bit l; do :: l = 1 - l :: y = 1 - y od }
ltl two { [] (s == 2 -> <> (s == 0)) }
ltl both { [] <> (y == 1) }
