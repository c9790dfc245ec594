/* truth: no error. The process and the globals take 256 values each: as many as a byte can number. */
#define N 256
short g;
active proctype P() {
  int n;
  do
  :: d_step { n < N - 1 -> n++; assert(n < 256 && g < 256) }
  :: d_step { n == N - 1 -> n = 0 }
  od
}

active proctype Q() {
  do
  :: d_step { g < N - 1 -> g++ }
  :: d_step { g == N - 1 -> g = 0 }
  od
}
