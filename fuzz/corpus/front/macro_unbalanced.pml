#define BEGIN if :: x ->
#define END od
byte x;
init {
  BEGIN x = 1
  END
}
