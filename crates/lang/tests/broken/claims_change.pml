byte x, y;
proctype Q() { skip }
init { x = 1 }
never {
  do
  :: x == _pid
  :: x == 1 -> y = 2
  :: run Q()
  :: x == 2 -> select (y : 0..2)
  :: atomic { x == 3 -> printf("fine\n") }
  :: _priority == 1
  :: set_priority(0, 2)
  od
}
