/* Whom `init` makes last depends on what it has read, and so on who moved before. Of 1, 2 and 3 the last one need not be a
   P: then its k is no number of a process, and is not renamed. */
byte g;

proctype P() {
  pid o;
  o = _pid;
  g = 1;
  do :: g == 5 && o == _pid -> g = 0 od
}

proctype Q() {
  byte k = 1;
  assert(k != 1);
  do :: k == 9 -> k = 1 od
}

init {
  byte seen;
  run P();
  run P();
  seen = g;
  if :: seen == 0 -> run P() :: else -> run Q() fi
}
