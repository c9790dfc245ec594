/* a D_proctype that keeps its promise */
byte b; bool f;
D_proctype D(byte k) { do :: b < k -> b++ :: b == k -> break od; f = true }
init { run D(2); f; run D(2) }
