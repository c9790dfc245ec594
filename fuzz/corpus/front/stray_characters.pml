byte x, größe;
init {
  x = 1 $ 2;
  x = x \ 2
}
