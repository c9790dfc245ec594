typedef T { }
mtype = { }
init {
  { };
  if :: fi;
  do :: -> skip od;
  ; skip
}
