/* truth: assertion violated. [Bosnacki-POR] section 4.
   SPIN 6.5.2 with reduction: 0 errors and a warning. Without reduction: found. */
chan ring = [0] of { byte };
byte work;
active proctype Listener() { byte tmp; tmp = 1; ring?7 }
active proctype Caller()   { { work = 1; assert(work == 0) } unless { ring!7 } }
