/* truth: no error; a body of declarations only is at its end from the start. */
active proctype Empty() { byte x }
active proctype Skips() { skip }
