/* an initial value for a record is ignored */
typedef A { byte a; short b }; A x=3; active proctype P(){ assert(x.a==3) }
