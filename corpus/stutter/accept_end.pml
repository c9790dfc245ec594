/* A run that ends at an accept label passes it for ever; one that ends without progress is no non-progress cycle. */
byte x;
active proctype P() { progress: x = 1; accept: (x == 2) }
