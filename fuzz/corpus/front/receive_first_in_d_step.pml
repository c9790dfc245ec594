/* a handshake answered by an atomic or a d_step */
chan c = [0] of { byte, bit };
byte g;
active [2] proctype R() { byte x; do :: atomic { c?x,1 -> g = x } :: d_step { c?x,0; g = x + 10 } od }
active proctype S() { byte i; do :: i < 2 -> if :: c!i,0 :: c!i,1 fi; i++ :: else -> break od }
