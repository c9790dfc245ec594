mtype = { request, reply };
chan line = [2] of { mtype, byte };
byte counter;
proctype Server(byte id) {
  mtype kind;
  do
  :: lin?kind,id -> conter++
  :: line!replay,id
  od
}
init { run Sever(1); run Server() }
