/* end labels in several blocks */
byte x; active proctype P(){ if :: x==0 -> { x=1; end: x=2 } :: x==2 -> { x=3; end: x==7 } fi; atomic { x=5; end: x==6 } }
