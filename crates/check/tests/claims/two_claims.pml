// Several claims are several questions.
// first: violated
// second: holds, 8 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never first { do :: x < 9 :: x == 2 -> break od }
never second { do :: x < 9 od }
