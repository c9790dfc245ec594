/* random model, seed 47 */
typedef T { byte f };
T s0;
byte g0;
bit g1;
int g2;
#ifndef ABSENT
byte gx = 1;
#else
byte gx = 2, unused;
#endif
chan c0 = [0] of { bit };
chan qc = [0] of { byte, chan };
chan pair = [1] of { byte, byte };

proctype P(int p0) {
	byte x0 = 1;
	do
	:: p0 = ((x0 + 0) + _nr_pr) % 2
	:: g1 < 2 ->
		g2 = x0 % 2 unless (!(2 > gx))
	:: x0 <= 1 ->
		break
	od;
	L0: p0 = (3 / 2) % 2
}

active proctype Q() {
	chan r0 = c0;
	run P((s0.f + 3) % 2);
	run P(0);
	end_wait: do
	:: gx = 0 % 2 ->
		L0: goto L1
	:: c0?g2 ->
		d_step {
			qc?s0.f, r0;
			g1++;
			printf("value %d\n", g2)
		}
	:: qc!0, c0
	od;
	L1: g1 = (g2 == 1)
}

active proctype Faulty() {
	pair!1, 0;
	pair?_
}
