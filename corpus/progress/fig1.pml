/* [FaragoSchmitt] figure 1, the walkthrough: every cycle makes progress. */
bit x;
active proctype P() { do :: x = 1; progress: x = 0 od }
