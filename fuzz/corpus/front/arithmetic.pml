/* truth: no error: arithmetic is 32-bit and wraps; division goes towards zero; shifts keep the sign. */
int a;
active proctype P() {
  a = 2147483647; a = a + 1; assert(a == -2147483647 - 1);
  assert(-7 / 2 == -3 && -7 % 2 == -1);
  assert((-8 >> 1) == -4 && (1 << 4) == 16);
  assert((3 > 2 > 1) == 0 && (1 | 2 == 2) == 1);
  assert(!0 == 1 && ~0 == -1 && (5 -> 7 : 8) == 7)
}
