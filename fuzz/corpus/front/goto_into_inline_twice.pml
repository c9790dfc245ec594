/* the first expansion is meant */
byte x; inline f(T) { T = 1; L: T=2 } active proctype P(){ x=5; f(x); x = 7; f(x); if :: x==2 -> goto L :: true fi }
