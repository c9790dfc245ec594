// A claim that cannot stay where the run ends.
// claim: holds, 5 stored
byte x;
active proctype P() { x = 1; x = 2 }
never {
  do :: true :: x == 1 -> goto accept od;
accept:
  do :: x == 1 od
}
