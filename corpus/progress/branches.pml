/* Two ways through one atomic, of which one makes progress. */
byte x;
active proctype P() { do :: atomic { x = 0; if :: x = 1 :: skip; progress: x = 2 fi } od }
