active [2 proctype A() { skip }
active B() { skip }
active proctype C() priority x { skip }
active proctype D() provided x > 1 { skip }
proctype E() skip
init { skip }
