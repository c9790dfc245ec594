byte m[2][3];
byte n[];
byte k[3] = {1, 2, };
int *p;
byte a[3];
init {
  a[] = 1;
  a[1][2] = 3;
  a[1 = 2
}
