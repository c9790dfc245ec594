mtype = { req, ack }
chan q = [2] of { mtype, byte };
active proctype Client() {
  byte id;
  do
  :: q!req(id) ->
     q?ack(
