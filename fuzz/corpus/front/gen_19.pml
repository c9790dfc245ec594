/* random model, seed 19 */
byte g0;
bit g1;
int g2 = 1;
short a0[2] = { 1, 0 };

active proctype P() {
	if
	:: ((g1 + 2) != _pid)
	:: else -> g1++
	fi;
	a0[0] = ((g1 + g1) + (0 & _pid)) % 2;
	g1--
}

active [2] proctype Q() {
	byte x0 = 1;
	printf("value %d\n", g2);
	do
	:: a0[1] >= 1 -> else
	:: a0[0] >= 1
	od
}

init {
	byte x0;
	bit x1 = 1;
	if
	:: a0[x1 % 2] <= 1 -> g0 = 1 % 2
	:: g1 == 0 -> g1 = true
	:: else
	fi;
	else;
	x1--;
	assert(true || 2 > a0[x0 % 2])
}
