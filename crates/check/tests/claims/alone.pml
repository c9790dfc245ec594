// The claim moves alone at the end; SPIN does not store where its first such move leads.
// claim: holds, 8 stored, 7 by SPIN
byte x;
active proctype P() { x = 1 }
never { true; true; true; true; true; true; true; do :: false od }
