/* select and for with variable bounds, and over an array */
byte lo = 1, hi = 3, i; byte arr[4];
active proctype P() { select (i : lo .. hi); arr[i] = i; byte k; for (k : lo .. hi) { arr[k] = k + 1; if :: k == 2 -> break :: else fi }; for (k in arr) { arr[k] = 0 } }
