/* a jump prefers the label of its own block */
byte x; active proctype P(){ { x=1; L: x=2; x=8 }; { x=3; if :: x==3 -> goto L :: else fi; x=5; L: x=4 } }
