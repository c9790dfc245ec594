/* As many processes as there can be, and one more. */
byte n;
proctype P() { (n == 255) }
init { do :: n < 254 -> run P(); n++ :: else -> break od; assert(_nr_pr == 255); run P() }
