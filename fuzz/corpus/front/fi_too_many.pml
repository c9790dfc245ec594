byte x;
init {
  if :: x -> skip :: else fi
  fi
  x = 1
}
