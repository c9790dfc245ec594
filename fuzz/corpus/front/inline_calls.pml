byte x, y;
init { early(1) }
inline early(a) { x = a }
inline f(a, b) { x = a; y = b }
inline g(a) { return a + 1 }
inline none(a) { x = a }
inline self(a) { self(a) }
inline ping(a) { pong(a) }
inline pong(a) { ping(a) }
inline f(c) { skip }
inline typed(byte a) { skip }
inline same(a, a) { skip }
init {
  f(1);
  f(1, 2, 3);
  f(1, );
  f(x = 1, 2);
  g(1);
  x = none(1);
  self(1);
  ping(1);
  x = g(1) + 1;
  y = 1 + g(1);
  f;
  unknown(3)
}
