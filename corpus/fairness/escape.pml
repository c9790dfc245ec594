/* The escape and what it escapes from are moves of one process. P moves while y is 0, for ever, and is treated fairly though
   it never moves while the escape could be taken. */
bit x;
bit y;
bool stopped;
active proctype P() { { do :: x = 1 - x od } unless { (y == 1) -> stopped = true } }
active proctype Q() { do :: y = 1 - y od }
ltl escapes { <> stopped }
