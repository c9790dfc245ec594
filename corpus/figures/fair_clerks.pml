/* The same with two who want a clerk: Weak fairness does not help the first of them. */
chan job = [0] of { bit };
bool served;
byte turn;
active proctype Client() { job!1; served = true; end: skip }
active proctype Rival() { do :: job!1; turn = 1 - turn od }
active [2] proctype Clerk() { byte x; do :: job?1; x = 1; x = 2; x = 3; x = 0 od }
ltl gets_it { <> served }
