/* truth: invalid end state: one process has ended, the other waits without an end label. */
byte x;
active proctype Done() { skip }
active proctype Stuck() { x == 7 }
