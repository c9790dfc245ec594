active proctype P() { byte x; L: x = 1 }
active proctype Q() { P[0]@M; P[0]:y == 1; R@L; P:x == 1 }
