/* truth: assertion violated. The shape of [Bosnacki-POR] figure 1, in our words: B may fall back while A has not yet come to its receive. */
chan door = [0] of { bit };
active proctype A() { skip; door?1 }
active proctype B() { assert(false) unless door!1 }
