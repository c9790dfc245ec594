byte x;
proctype Q() { skip }
active proctype P() {
  do
  :: d_step { x = 1; break }
  :: d_step { x = 2; goto out }
  :: d_step { run Q() }
  od;
  goto in;
  d_step { x = 3; in: x = 4 };
out: skip
}
