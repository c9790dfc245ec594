/* _p, and the predefined variables of another process */
byte x; active proctype P(){ L: x=1; x=2; x = _p } active proctype Q() { P[0]:_p == 1; x = P[0]:_pid }
