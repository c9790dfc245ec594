/* remote labels and variables, and who moved last */
byte x;
active proctype P() { byte l; L1: l = 1; L2: l = 2; x = _last }
active proctype Q() { (P[0]@L2 || P[0]:l == 2) -> x = 1; x = P:l + _last }
