byte b;
chan c = [2] of { byte, byte };
chan r = [0] of { bit };
chan big = [1000000] of { byte };
active proctype P() {
  byte x;
  b!1;
  c!1;
  c?x,x;
  c?[x];
  x = len(b);
  x = 1; chan late = [1] of { bit };
  c!1,2,3
}
