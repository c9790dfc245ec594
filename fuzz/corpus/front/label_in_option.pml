/* a jump to the first statement of an option */
byte x;
active proctype P() { if :: L: x = 1; x = 2 :: x == 0 -> goto L fi; x = 3 }
