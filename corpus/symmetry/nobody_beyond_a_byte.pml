/* The same with a number that is too large for a byte. */
short s = 258;
byte b = 200, n;

active [3] proctype P() {
  bit been;
  do
  :: atomic { b == 200 -> b = s }
  :: atomic { b == _pid -> if :: !been -> been = 1; n++ :: else fi; assert(n == 1); b = 200 }
  od
}
