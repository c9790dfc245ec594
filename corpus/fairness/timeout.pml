/* `timeout` is true only where nobody else can move. Beside Q, who always can, W is never able to. */
bit x;
bool done;
active proctype W() { timeout -> done = true }
active proctype Q() { do :: x = 1 - x od }
ltl waits { <> done }
