/* full, nfull, empty and len beside xr and xs */
chan q = [2] of { byte };
active proctype A() { xs q; byte i; do :: i < 3 -> q!i; i++ :: nfull(q) && len(q) > 0 -> break :: full(q) -> skip od }
active proctype B() { xr q; byte j; do :: q?j :: empty(q) -> break od }
