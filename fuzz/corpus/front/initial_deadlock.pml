/* truth: invalid end state, in the initial state already. */
chan c = [0] of { bit };
active proctype Waits() { c?1 }
