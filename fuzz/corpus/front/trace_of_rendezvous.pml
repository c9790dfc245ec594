/* a handshake is two events */
chan q = [2] of { byte }; chan r = [0] of { byte };
active proctype A() { q!1; q?1; r!2; r!1; end: 0 }
active proctype B() { byte x; r?x; r?x; end: 0 }
trace { q!1; q?1; r!2; r?2; r!1; r?1 }
