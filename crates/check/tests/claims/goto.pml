// Jumps take no move, skip does.
// claim: holds, 4 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never {
A: if :: x == 0 -> goto B fi;
B: if :: x == 0 -> skip; goto C fi;
C: if :: x == 2 -> goto A fi
}
