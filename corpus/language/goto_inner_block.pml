/* a jump into a block */
byte x; active proctype P() { do :: x < 3 -> { x++; if :: x == 2 -> goto out :: else fi } :: else -> break od; x = 9; { x = 10; out: x = 11 } }
