/* truth: the assertion is violated, in the last of 65,536 values of a process: as many as two bytes can number.
   Every value is reached by doubling, so the shortest run to it is short. */
#define N 65536
byte g;
active proctype P() {
  int n;
  do
  :: d_step { n = (2 * n) % N; assert(!(n == 65535 && g == 1)) }
  :: d_step { n = (2 * n + 1) % N; assert(!(n == 65535 && g == 1)) }
  od
}

active proctype Q() {
  do
  :: g = (2 * g) % 2
  :: g = (2 * g + 1) % 2
  od
}
