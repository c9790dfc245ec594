/* Who takes another option has looked at the channel all the same, and which channel that was depends on A. */
chan a = [1] of { bit };
chan b = [1] of { bit };
chan x = a;
active proctype R() { xr a; a?_ }
active proctype P() { byte l; if :: l = 1 :: nempty(x) fi }
active proctype A() { x = b }
