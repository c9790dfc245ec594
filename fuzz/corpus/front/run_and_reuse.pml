/* processes that start processes, and numbers used again */
byte n;
proctype K(byte i) { n = i; if :: i > 0 -> run K(i - 1) :: else fi }
init { byte p; p = run K(2); (n == 0) -> p = run K(1) + 1; assert(p < 6) }
