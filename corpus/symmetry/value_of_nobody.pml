/* Once Z has ended, Z:who is 0: whoever asks, that is the number of process 0. So it alone comes round again. */
byte n;

active [3] proctype P() {
  bit been;
  do
  :: atomic {
       Z:who == _pid ->
       if :: !been -> been = 1; n++ :: been && n == 1 -> assert(false) :: else fi
     }
  od
}

active proctype Z() {
  byte who = 200;
  who = 201
}
