byte x, y;
init {
  x = 1
  unless { y = 1 };
  do :: x -> skip od;
  unless y = 2;
  { x = 2 }
  unless { y = 3 };
  x = 1 unless y = 1 unless y = 2
}
