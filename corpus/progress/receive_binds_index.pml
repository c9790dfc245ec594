/* Q goes round without progress only if it reads a[1] after P has bound it, by an index that the same receive has bound. */
byte a[2];
bit y;
chan q = [1] of { byte, byte };
active proctype P() { byte i; q!1,5; q?i,a[i]; y = 1 }
active proctype Q() { byte z; z = a[1]; (z == 5 && y == 1); progress: skip; do :: z = 5; z = 5 od }
