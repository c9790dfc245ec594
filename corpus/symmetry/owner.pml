/* truth: the token is free again and again with weak fairness, not without; its holder is a process number that has to
   change its name with the process. */
byte owner = 255;
active [3] proctype station() {
  do
  :: owner == 255 -> owner = _pid
  :: owner == _pid -> owner = 255
  :: owner != 255 && owner != _pid
  od
}
ltl free { []<> (owner == 255) }
