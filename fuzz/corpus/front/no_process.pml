/* truth: no error: nothing runs, and nothing is left waiting. SPIN 6.5.2 refuses it: no runable process. */
byte x = 3;
proctype Never_started() { x = 4; assert(false) }
