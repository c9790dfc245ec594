/* truth: non-progress cycle (Holder leaves its progress state, Spinner spins).
   [FaragoSchmitt], note in 3.2: C2 is not enough for progress states. LTSmin's DFS_FIFO with reduction misses it. */
active proctype Holder()  { progress: skip; (false) }
active proctype Spinner() { bit x; do :: x = 1 - x od }
