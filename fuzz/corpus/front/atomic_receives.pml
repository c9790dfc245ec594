/* atomics that block after a receive */
byte x; chan c = [1] of { byte };
active proctype P() { do :: atomic { x < 2 -> x++; c!x; x = x } :: x == 2 -> break od }
active proctype Q() { byte y; end: do :: atomic { c?y; y == 1 -> skip } :: atomic { c?y; if :: y == 2 -> x = 0 :: else -> goto done fi } od; done: skip }
