/* a record is passed field by field */
typedef T { byte x; short y; bool z };
proctype Q(T t; byte k) { assert(t.x == 1 && t.y == -2 && k == 9); t.x = k }
init { T a; a.x = 1; a.y = -2; run Q(a, 9); run Q(a, 9) }
