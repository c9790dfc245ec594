/* end, accept and progress labels in loops */
byte x, t;
active proctype P() { do :: x < 2 -> x++ :: else -> x = 0; t = 1 - t; if :: t -> end1: x == 5 :: else -> skip fi od }
active proctype Q() { end: do :: x == 2 -> progress: skip :: t -> accept: break od }
