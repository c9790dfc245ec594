byte x;
init {
  proctype P() { skip }
  typedef T { byte a }
  x = 1
}
