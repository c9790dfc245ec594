byte a[0];
int huge[500000000];
byte n;
byte b[n];
unsigned u : 40;
unsigned v;
byte w : 3;
byte list[2] = { 1, 2, 3 };
active [300] proctype P() { a[1] = 1; b[0] = 2 }
active proctype R() priority 0 { skip }
