// What a claim can ask.
// claim: holds, 3 stored
byte x;
chan q = [2] of { byte };
active proctype P() { byte y; do :: q!x; L: y++; q?x; y = 0 od }
never {
  do
  :: !P@L && P:y == 0 && q??[0] && enabled(0) && pc_value(0) > 0 && len(q) < 2
  :: P@L || len(q) == 0
  od
}
