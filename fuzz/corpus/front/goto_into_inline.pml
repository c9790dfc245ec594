/* a jump to a label inside an inline */
byte x; inline f(T) { T = 1; L: T=2 } active proctype P(){ x=5; f(x); if :: x==2 -> goto L :: true fi }
