/* assert */
proctype P() { skip }
active proctype B() { assert(_nr_pr == 3) }
active proctype A() { run P(); (false) }
