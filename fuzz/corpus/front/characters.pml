byte x;
init {
  x = 'ab';
  x = '';
  x = '\n';
  x = '\'';
  x = 'é'
}
