byte i;
init {
  select (i : 1 - 3);
  select (i in 1 .. 3);
  goto;
  goto 3;
  select i : 1 .. 3;
  break 2
}
