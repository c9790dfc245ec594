/* truth: the assertion is violated, in one part only: the last of 65,536 values of a process, which need all of two bytes. */
#define N 65536
byte g;
active proctype P() {
  int n;
  do
  :: d_step { n < N - 1 -> n++; assert(!(n == 65535 && g == 1)) }
  :: d_step { n == N - 1 -> n = 0 }
  od
}

active proctype Q() {
  do
  :: d_step { g < 2 - 1 -> g++ }
  :: d_step { g == 2 - 1 -> g = 0 }
  od
}
