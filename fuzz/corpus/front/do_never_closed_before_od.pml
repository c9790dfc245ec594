byte x;
init {
  do
  :: x < 3 ->
     if
     :: x == 1 -> skip
     :: else -> x++
  od
}
