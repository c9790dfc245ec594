/* a notrace that the run leaves */
chan q = [2] of { byte };
active proctype A() { q!1; q!3; end: 0 }
active proctype B() { byte x; q?x; end: 0 }
notrace { q!1; q?1; q!2 }
