/* channels inside records, sent through a rendez-vous channel and used by others */
typedef N { chan c = [1] of { byte }; byte id };
N node[3];
chan hub = [0] of { chan, byte };
active [2] proctype W() { chan reply; byte v; hub?reply,v; reply!v; node[_pid].c!v }
active proctype M() { byte i; do :: i < 2 -> hub!node[2].c,i; i++ :: else -> break od; byte z; node[2].c?z; node[2].c?z }
