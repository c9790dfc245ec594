/* random receives with constants and variables */
byte cnt; chan full_ch = [2] of { byte, bit, mtype }; mtype = { A, B, C };
active proctype P() { mtype m; byte a; bit b; full_ch!1,1,A; full_ch!2,0,B; do :: full_ch??a,b,C -> break :: full_ch??[_,0,B] && cnt < 2 -> full_ch??a,0,m; full_ch!a,1,C; cnt++ :: cnt >= 2 -> break od; if :: m == B -> skip :: else -> cnt = 7 fi }
