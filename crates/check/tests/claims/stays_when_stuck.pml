// The same when processes wait for ever.
// claim: violated
byte x;
active proctype P() { x = 1; x == 5 }
never {
  do :: true :: x == 1 -> goto accept od;
accept:
  do :: x == 1 od
}
