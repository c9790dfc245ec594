/* truth: acceptance cycle, with and without weak fairness (both processes toggle for ever).
   [Bosnacki-SYM] figure 4 with processes in ascending order and a sorted representative misses it. */
byte on;
active [2] proctype toggler() { do :: on++; accept: on-- od }
