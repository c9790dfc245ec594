/* a channel of 256 slots */
chan q=[256] of {byte}; active proctype P(){ byte i; do :: nfull(q) -> q!1; i++ :: full(q) -> break od; assert(len(q)==256) }
