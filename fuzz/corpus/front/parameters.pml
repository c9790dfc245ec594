proctype A(byte a, byte b) { skip }
proctype B(byte a[2]; byte b = 3) { skip }
proctype C(void) { skip }
proctype D(byte a;) { skip }
proctype E(byte a { skip }
init { skip }
