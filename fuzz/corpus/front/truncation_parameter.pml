/* truth: no error: an argument is cut to its parameter's type. */
proctype Q(byte b; bit t) { assert(b == 1 && t == 1) }
init { run Q(257, 3) }
