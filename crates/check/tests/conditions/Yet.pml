/* automaton v */
bool m = 1, p = 1;
active proctype A() { m = 0 }
active proctype B() { p = 0 }
ltl v { <>m || <>p }
/* Accepted is m until p without m. At first only m is looked at.
HOA: v1
States: 3
Start: 0
AP: 2 "m" "p"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[t] 0
[0] 1
State: 1
[0] 1
[!0&1] 2
State: 2 {0}
[t] 2
--END--
*/
