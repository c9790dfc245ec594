/* B waits for room that is never made; C for a partner that never comes; both are owed nothing. */
chan q = [1] of { bit };
chan c = [0] of { bit };
bit x, b, d;
active proctype A() { q!1; do :: x = 1 - x od }
active proctype B() { x == 1; q!1; b = 1 }
active proctype C() { c!1; d = 1 }
ltl b_sends { <> b }
ltl c_sends { <> d }
ltl goes_on { [] <> (x == 1) }
