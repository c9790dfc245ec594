byte x;
inline f(a) {
  x = a;
  if :: x -> skip fi

init { f(1) }
