// What SPIN makes of a formula.
// claim: violated
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never {
T0_init:
  do
  :: atomic { (!(x < 3)) -> assert(!(!(x < 3))) }
  :: (1) -> goto T0_init
  od;
accept_all:
  skip
}
