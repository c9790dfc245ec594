/* The index of what a receive binds second is what it has bound first: P writes a[1], not a[0]. */
byte a[2];
chan q = [1] of { byte, byte };
active proctype P() { byte i; q!1,5; q?i,a[i] }
active proctype Q() { byte z; z = a[1]; assert(z == 0) }
