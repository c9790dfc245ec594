/* assert */
bit x;
proctype P() { (false) }
active proctype B() { assert(_nr_pr == 3); do :: x == 1 od }
active proctype A() { run P(); (false) }
