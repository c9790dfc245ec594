/* Somebody makes progress in every cycle, but P none: it never comes to its label. */
byte y;
active proctype P() { y == 7; progress: skip }
active proctype Q() { do :: y = 1 - y; progress: skip od }
