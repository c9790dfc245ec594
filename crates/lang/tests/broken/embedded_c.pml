c_decl { typedef struct { int x; } T; };
c_state "int n" "Global"
active proctype P() {
  c_code { now.n++; };
  if :: c_expr { now.n > 3 } -> skip :: else fi
}
