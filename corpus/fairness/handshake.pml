/* A handshake is a step of the sender. Late could take part in it all the time, but it is never Late's to move: who waits at
   a receive is not able to move, and fairness owes it nothing. */
chan c = [0] of { bit };
bool served;
active proctype Sender() { do :: c!1 od }
active proctype Eager()  { do :: c?1 od }
active proctype Late()   { c?1; served = true }
ltl gets_it { <> served }
