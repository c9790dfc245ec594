mtype = { A = 1, B };
mtype = { run, C };
mtype = { D; E };
init {
  mtype = { F };
  skip
}
