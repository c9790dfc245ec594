/* automaton v */
bool p, r;
active proctype A() { p = 1 }
active proctype B() { r = 1 }
ltl v { <>p || <>r }
/* Accepted is p after a while without it, with the same r all the while: from state 0 if that is a single state, from the
 * others if it is more. What is accepted from state 0 is not closed under stuttering.
HOA: v1
States: 7
Start: 0
Start: 2
Start: 4
AP: 2 "p" "r"
Acceptance: 1 Inf(0)
--BODY--
State: 0
[!0] 1
State: 1
[0] 6
State: 2
[!0&1] 2
[!0&1] 3
State: 3
[!0&1] 1
State: 4
[!0&!1] 4
[!0&!1] 5
State: 5
[!0&!1] 1
State: 6 {0}
[t] 6
--END--
*/
