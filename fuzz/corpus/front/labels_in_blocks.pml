/* a label may stand again in another block */
byte x; active proctype P(){ { x=1; L: x=2 }; { x=3; L: x=4 } }
