/* One long way: x runs through 0 .. N-1 in the order of a linear congruence (N a power of two), one successor a state,
 * and a flag that may be turned at every 64th value. A depth-first search goes as deep as there are states; the levels
 * of a breadth-first one hold a handful.
 *
 * size             stored  transitions      depth
 * N=512              1056         1073       1029
 * N=4096             8448         8577       8421
 * N=32768           67584        68609      67557
 * N=262144         540672       548865     540645
 * N=1048576       2162688      2195457    2162661
 * N=8388608      17301504     17563649   17301477
 */
#ifndef N
#define N 512
#endif

int x;
bool flag;

active proctype walker()
{
	do
	:: x % 64 == 1 -> flag = !flag; x = (5 * x + 3) % N
	:: x = (5 * x + 3) % N
	od
}

/* The congruence comes back to 0; but nobody has to turn the flag. */
ltl holds { []<> (x == 0) }
ltl broken { <> flag }
