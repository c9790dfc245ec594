/* Who takes too few fields takes any message, and that is an error. */
chan c = [0] of { byte, byte };
byte g;
proctype P(chan x) { if :: x?5 -> g = 2 :: g == 1 fi }
active proctype A() { c!1,2 }
active proctype M() { run P(c); g = 1 }
