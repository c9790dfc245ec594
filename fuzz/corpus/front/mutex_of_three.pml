/* arrays indexed by process numbers, and a jump back */
#define N 3
byte turn; bool want[N];
active [N] proctype p() { byte i; again: want[_pid] = true; i = 0; do :: i < N && i != _pid && want[i] -> want[_pid] = false; goto again :: i < N && (i == _pid || !want[i]) -> i++ :: i == N -> break od; assert(turn == 0); turn++; turn--; want[_pid] = false }
