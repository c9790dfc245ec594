#define one(a) a
#define cat(a, b) a ## b
#define two(a, b) a + b
byte x;
init {
  x = one(1, 2);
  x = two(1);
  x = cat(+, *);
  x = two((1, 2), 3);
  x = one(x ;
}
