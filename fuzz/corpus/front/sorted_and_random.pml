/* sorted sends and random receives */
chan q = [4] of { byte, byte };
active proctype S() { q!!3,1; q!!1,2; q!!2,0; q!!1,1 }
active proctype R() { byte a, b; q??2,b; q?a,b; q??eval(a),b; if :: q?[3,_] -> q?<a,b> :: q??[1,1] -> q??1,1 :: else fi }
