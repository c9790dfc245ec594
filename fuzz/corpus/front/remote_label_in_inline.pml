/* a remote label inside an inline means its first expansion */
byte x; bit r;
inline f(T) { T = 1; LL: T=2; T=3 }
active proctype P(){ f(x); x=6; r=1; f(x); x=7 }
active proctype Q(){ (P@LL && r==0); assert(false) }
