/* select in an inline walks */
byte x; inline f() { select(x : 0..2) } active proctype P(){ f() }
