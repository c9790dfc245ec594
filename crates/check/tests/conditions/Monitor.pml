/* trace */
chan p = [1] of { bit };
chan q = [1] of { bit };
trace { do :: p!1; q!1 od }
active proctype B() { q!1 }
active proctype A() { p!1 }
