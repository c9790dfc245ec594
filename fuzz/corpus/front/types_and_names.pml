/* values of every type, named mtype sets, formats */
mtype:a = { one, two }; mtype = { red, green }; mtype:a v = two; mtype w = green;
unsigned u : 5 = 33; short s = -1; int big = 2147483647;
active proctype P() { u = u * 9; s = s << 3; big++; assert(v == 1 && w == 1); v = one; printf("%e %d\n", w, u); printm(w) }
