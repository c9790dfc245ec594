/* a trace that is never complete is an invalid end */
chan q = [2] of { byte }; chan r = [0] of { byte };
active proctype A() { q!1; q?1; q!2; r!1; end: 0 }
active proctype B() { byte x; r?x; end: 0 }
trace { do :: q!1 -> q?1 :: q!2 od }
