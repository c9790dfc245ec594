/* p weak */
bit a, b;
/* one part sees both, so it matters which comes first */
active proctype P() { a = 1 }
active proctype Q() { b = 1 }
ltl p { [] (a -> b) }
