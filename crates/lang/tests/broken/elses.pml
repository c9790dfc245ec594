byte x;
active proctype P() {
  if :: x == 1 -> skip :: else -> x = 1 :: else -> x = 2 fi;
  do
  :: if :: x == 2 -> skip :: else -> skip fi
  :: else -> break
  od;
  if :: { x = 1 } unless { x == 2 } fi
}
