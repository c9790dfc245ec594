/* truth: the assertion is violated, in the last of 257 values each of a process and the globals: one more than a byte can number.
   Every value is reached by doubling, so the shortest run to it is short. */
#define N 257
short g;
active proctype P() {
  int n;
  do
  :: d_step { n = (2 * n) % N; assert(!(n == 256 && g == 256)) }
  :: d_step { n = (2 * n + 1) % N; assert(!(n == 256 && g == 256)) }
  od
}

active proctype Q() {
  do
  :: g = (2 * g) % N
  :: g = (2 * g + 1) % N
  od
}
