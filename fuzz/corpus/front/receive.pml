byte x;
chan q = [1] of { byte, byte };
init {
  q?x+1;
  q?eval(x, 1;
  q?<x,1;
  q?"a";
  q!eval(x);
  q!(1,2)
}
