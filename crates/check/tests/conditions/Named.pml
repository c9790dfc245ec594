/* trace */
chan p = [1] of { bit };
chan q = [1] of { bit };
bit g;
trace { do :: p?1; q!1 od }
active proctype B() { chan c = p; if :: g == 1; c = q :: g == 2 fi; c!1 }
active proctype A() { p!1; g = 1; p?1 }
