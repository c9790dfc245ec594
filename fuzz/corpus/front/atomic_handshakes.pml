/* atomics that hand the floor to each other */
chan a = [0] of { byte }; chan b = [0] of { byte }; byte g;
active proctype P() { byte t; atomic { a!1; b?t; g++; a!2 }; g++ }
active proctype Q() { byte t; atomic { a?t; g++; b!3; a?t; g = 7 } }
active proctype R() { g == 1; g = 9 }
