// An accept label that no cycle passes.
// claim: holds, 10 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never {
  do :: true :: x == 2 -> goto accept od;
accept:
  do :: x == 2 od
}
