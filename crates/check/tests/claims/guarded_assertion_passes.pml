// The same for a formula that holds.
// claim: holds, 8 stored
byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }
never {
T0_init:
  do
  :: atomic { (!(x < 4)) -> assert(!(!(x < 4))) }
  :: (1) -> goto T0_init
  od;
accept_all:
  skip
}
