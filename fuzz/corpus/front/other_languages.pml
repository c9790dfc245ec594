byte x;
init {
  if :: x then x = 1 :: else x = 2 fi;
  do :: x -> continue :: else -> break od;
  begin x = 1 end;
  x = 2
}
