/* Weak fairness: the Client can be passed over for ever, because again and again both servers are busy. That the
   conjectured repair takes default moves before it leaves out steps does not help: while one server is busy the
   Client could still go to the other, so there is no default move, and the busy one is done before the other begins. */
chan c = [0] of { bit };
chan d = [0] of { bit };
bool served;
byte turn;
active proctype Client() { c!1; served = true }
active proctype Rival() { do :: d!1; turn = 1 - turn od }
active [2] proctype Server() { do :: c?1; skip :: d?1; skip od }
ltl gets_it { <> served }
