/* truth: accepting cycle, also fair: the processes are told apart by nothing but who has to move next. */
byte on;
active [3] proctype toggler() { do :: on++; accept: on-- od }
