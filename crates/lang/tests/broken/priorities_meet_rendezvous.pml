chan c = [0] of { bit };
active proctype P() priority 2 { c!1 }
active proctype Q() { c?1; assert(enabled(0)) }
