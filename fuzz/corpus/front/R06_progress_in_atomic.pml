/* truth: no non-progress cycle where a progress label marks the transition it stands before ([FaragoSchmitt], 2.4);
   with progress states, and states inside an atomic invisible, SPIN 6.5.2 reports one. Both semantics are offered; each says which. */
bit tick;
active proctype Clock() { do :: tick = 0; atomic { skip; progress: tick = 1 } od }
