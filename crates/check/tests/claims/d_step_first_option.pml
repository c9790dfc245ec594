// The first option that can run is the one.
// claim: holds, 8 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never { do :: x < 9 :: d_step { x == 2 -> if :: x < 3 -> assert(x < 3) :: x < 4 -> assert(false) :: else fi } od }
