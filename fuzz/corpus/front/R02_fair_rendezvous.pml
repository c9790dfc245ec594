/* truth: ltl starve violated under weak fairness (Sink's local step makes Polite not continuously enabled).
   [Bosnacki-POR] section 5.3. SPIN 6.5.2 refuses fairness + reduction + rendez-vous. */
mtype = { ping, pong };
chan link = [0] of { mtype };
bool served;
active proctype Greedy() { do :: link!ping od }
active proctype Polite() { do :: link!pong; served = true od }
active proctype Sink()   { mtype m; byte pad; do :: link?m; pad = 0 od }
ltl starve { <> served }
