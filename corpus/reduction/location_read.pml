/* A formula reads where A stands. A's steps are local: nobody inside the model notices them. */
bit x;
active proctype B() { x = 1; x = 0 }
active proctype A() { byte l; l = 1; there: l = 2; l = 3 }
ltl never_both { [] !(A@there && x == 1) }
ltl gets_there { <> (A@there) }
ltl stays_out { [] !(A@there) }
