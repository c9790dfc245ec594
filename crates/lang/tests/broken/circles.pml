byte x;
active proctype P() {
  goto nowhere;
A: goto B;
B: goto A;
C: x = 1;
C: x = 2
}
