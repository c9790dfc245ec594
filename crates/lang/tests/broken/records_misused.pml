typedef Point { byte x; byte y[2] };
Point p, q[2];
chan c = [1] of { Point };
active proctype P() {
  p = 1;
  p.z = 2;
  q.x = 1;
  p.y = 3;
  p.x.y = 1;
  c!p.x
}
