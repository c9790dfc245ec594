char c;
float f = 1.5;
unsigned int n;
long l = 2;
init { c = 'a' }
