/* truth: assertion violated: -1 in a byte is 255, so the comparison with -1 is false. */
byte b;
active proctype P() { b = -1; assert(b == 255); assert(b == -1) }
