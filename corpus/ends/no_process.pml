/* truth: no error: nothing runs, and nothing is left waiting. */
byte x = 3;
proctype Never_started() { x = 4; assert(false) }
