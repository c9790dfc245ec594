byte x;
proctype P(byte x) { skip }
active proctype Q() {
  { byte inner; inner = 1 };
  inner = 2;
  byte y; byte y
}
proctype Q() { skip }
mtype = { x }
