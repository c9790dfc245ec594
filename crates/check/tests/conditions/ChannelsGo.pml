/* assert */
chan s = [1] of { chan };
proctype P() { chan l = [1] of { bit }; s!l }
active proctype M() { chan x; run P(); s?x; x!1; assert(false) }
