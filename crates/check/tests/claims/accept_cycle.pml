// A cycle through an accept label of the claim.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never {
  do :: true :: x == 2 -> goto accept od;
accept:
  do :: x != 9 od
}
