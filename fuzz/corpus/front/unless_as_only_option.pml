/* an unless as the only option of a loop */
byte x; active proctype P(){ do :: { x<2 -> x++; if :: x==2 -> break :: else fi } unless { x==1 -> x=5; break } od; x=0 }
