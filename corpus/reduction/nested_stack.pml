/* What nested search does where the second search comes to a state that the first has on its path: with a proviso that asks
   the path, it would go on with other steps than before, and not come back. Here two loops meet in one state, and only
   one of them is accepting. */
bit x, y;
active proctype A() { do :: x = 1; accept: x = 0 od }
active proctype B() { bit l; do :: l = 1; l = 0 :: y = 1; y = 0 od }
active proctype C() { bit l; l = 1; l = 0 }
ltl later { [] <> (x == 1 && y == 1) }
ltl rests { <> [] (x == 0) }
