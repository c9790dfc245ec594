chan q = [1] of { byte };
byte x;
init {
  !full(q);
  if :: !(empty(q)) && x -> skip :: x fi
}
