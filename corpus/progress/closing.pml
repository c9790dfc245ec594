/* Progress only on the step that closes the cycle. */
byte x;
active proctype P() { x = 1; s: x = 2; x = 3; progress: x = 1; goto s }
