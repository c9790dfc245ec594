// A handshake is one step.
// claim: holds, 2 stored
byte x;
chan c = [0] of { byte };
active proctype P() { do :: c!1 od }
active proctype Q() { do :: c?x; x = 0 od }
never { do :: x == 0; x == 1 od }
