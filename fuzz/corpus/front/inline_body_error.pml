byte x;
inline bad(a) {
  x = a +;
  while (x) { skip }
}
inline open(a) { if :: a -> skip }
init {
  bad(1);
  bad(2);
  open(3)
}
