/* assert */
proctype A() { skip }
proctype B() { assert(_pid == 1) }
init { run A(); run B() }
