/* Once Z has ended, Z[4]:who is 0: whoever asks, that is the number of the first P, less one. So it alone comes round again. */
byte n;

proctype Z() {
  byte who = 200;
  who = 201
}

proctype P() {
  bit been;
  do
  :: atomic {
       Z[4]:who == _pid - 1 ->
       if :: !been -> been = 1; n++ :: been && n == 1 -> assert(false) :: else fi
     }
  od
}

init { atomic { run P(); run P(); run P(); run Z() } }
