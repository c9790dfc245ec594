/* truth: no error: a value stored in a smaller variable keeps its low bits. */
byte b; short s; unsigned u : 3; bit t;
active proctype P() {
  b = 300; assert(b == 44);
  s = 70000; assert(s == 4464);
  s = 40000; assert(s == -25536);
  u = 13; assert(u == 5);
  t = 2; assert(t == 0)
}
