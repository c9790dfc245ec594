/* X may end before anybody is made. Then its number is given again, 1, 2 and 3 are the P, and 4 is Q. */
byte g;

init { run P(); run P(); run P(); run Q() }

active proctype X() { skip }

proctype P() {
  pid o;
  o = _pid;
here: do :: g == 5 && o == _pid -> g = 0 od
}

proctype Q() {
  byte k = 1;
  P[1]@here -> assert(k != 1);
  do :: k == 9 -> k = 1 od
}
