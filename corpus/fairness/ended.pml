/* Processes that have ended or that wait for ever are not able to move. The run is fair, though only Q moves. */
bit x;
bool done;
chan never_filled = [1] of { bit };
active proctype Ended() { skip }
active proctype Waits() { never_filled?1; done = true }
active proctype Q() { do :: x = 1 - x od }
ltl waits { <> done }
