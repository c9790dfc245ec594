/* assert */
active proctype B() { assert(_nr_pr == 1) }
active proctype A() { skip }
