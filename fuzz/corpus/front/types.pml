Thing t;
typedef Pair { byte a, b }
Pair p;
pair q;
init {
  Thing u;
  p.a = 1
}
