#define BAD x = = 1
#define INC(v) v = v + ;
#define TWICE(v) INC(v) INC(v)
byte x;
init {
  BAD;
  TWICE(x)
}
