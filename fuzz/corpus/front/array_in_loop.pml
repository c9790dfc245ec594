/* truth: no error: an array declared inside a loop starts anew each round.
   SPIN 6.5.2 resets element 0 only: the assertion fails there. */
byte n;
active proctype P() {
  do
  :: n < 2 -> { byte a[2] = 5; assert(a[1] == 5); a[1] = 9; n++ }
  :: else -> break
  od
}
