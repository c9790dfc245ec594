bool a, b, c;
init {
  a and b;
  (a or b) -> c = 1;
  if :: not c -> skip fi;
  a mod 2
}
