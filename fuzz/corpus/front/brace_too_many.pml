byte x;
init {
  x = 1
  }
}
proctype P() { skip }
