/* Children come and go for ever; each one alive for long enough moves. Only one that stays and never moves would be treated
   unfairly, so under weak fairness every child that is born says so. */
bool said;
bool born;
proctype child() { said = true }
active proctype parent() { bit x; run child(); born = true; do :: x = 1 - x od }
ltl speaks { [] (born -> <> said) }
