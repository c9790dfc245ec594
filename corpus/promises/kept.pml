/* xs and xr kept: the sender asks for room, the receiver for a message */
chan q = [2] of { byte };
active proctype S() { xs q; if :: nfull(q) -> q!1 fi }
active proctype R() { xr q; if :: nempty(q) -> q?1 fi }
