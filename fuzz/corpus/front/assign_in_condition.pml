byte x, y;
init {
  (x = 1) -> y = 2;
  if
  :: (y = 2) && x -> skip
  :: else
  fi;
  x = y = 3
}
