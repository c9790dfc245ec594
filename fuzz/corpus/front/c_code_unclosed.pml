c_decl { int n; };
init {
  c_code { n = 1; if (n) { n = 2; }
  skip
}
