/* [FaragoSchmitt] figure 7: the label inside the atomic marks the step. Nobody ever sees the process stand there. */
byte x;
active proctype P() { do :: x = 0; atomic { skip; progress: x = 1 } od }
