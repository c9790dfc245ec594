/* channels that come and go with their processes */
chan up = [1] of { chan };
proctype C(byte d) { chan mine = [2] of { byte }; byte v; up!mine; mine?v; if :: d > 0 -> run C(d - 1) :: else fi }
init { chan k; byte n; run C(1); do :: n < 2 -> up?k; k!n; n++ :: else -> break od; (_nr_pr == 1); run C(0); up?k; k!5 }
