/* truth: non-progress cycle through the initial state. [FaragoSchmitt] listing 5 read literally (any first stack element is exempt) misses it. */
bit x;
active proctype P() { do :: x = 1 - x od }
