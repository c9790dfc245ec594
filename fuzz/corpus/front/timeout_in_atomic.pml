/* timeout inside atomic, negated, and in a condition */
byte x;
active proctype P() { atomic { x = 1; timeout; x = 2 }; !timeout; timeout -> x = 3 }
active proctype Q() { do :: x == 2 -> break :: timeout && x == 1 -> x = 1; skip od }
