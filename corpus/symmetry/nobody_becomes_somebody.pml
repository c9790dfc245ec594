/* 5 is nobody, and b keeps two bits of it: that is process 1, whoever has looked. So n stays 1, and who comes round again
   finds it so. */
byte s = 5, n;
unsigned b : 2 = 3;

active [3] proctype P() {
  bit been;
  do
  :: atomic { b == 3 -> b = s }
  :: atomic {
       b == _pid ->
       if :: !been -> been = 1; n++ :: been && n == 1 -> assert(false) :: else fi;
       b = 3
     }
  od
}
