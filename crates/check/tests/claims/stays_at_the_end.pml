// A run that ends is continued by staying where it is.
// claim: violated
byte x;
active proctype P() { x = 1; x = 2 }
never {
  do :: true :: x == 2 -> goto accept od;
accept:
  do :: x == 2 od
}
