/* values after the last element are dropped */
byte d[2]={1,2,3}; active proctype P(){ assert(d[1]==2) }
