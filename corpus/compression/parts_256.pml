/* truth: no error. A process and the globals take 256 values each: as many as a byte can number.
   Every value is reached by doubling, so the shortest run to it is short. */
#define N 256
short g;
active proctype P() {
  int n;
  do
  :: d_step { n = (2 * n) % N; assert(n < 256 && g < 256) }
  :: d_step { n = (2 * n + 1) % N; assert(n < 256 && g < 256) }
  od
}

active proctype Q() {
  do
  :: g = (2 * g) % N
  :: g = (2 * g + 1) % N
  od
}
