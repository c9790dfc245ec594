byte x, y;
init {
  here: byte z;
  { there: x = 1 };
  atomic { deep: x = 2 };
  if :: guard: x == 1 -> skip :: x -> fine: y = 1 fi;
  L: x = 1 unless { y = 1 };
  x = 2 unless { M: y = 2 };
  xr_: skip;
  last:
}
