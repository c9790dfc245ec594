/* an unless as one option among others guards them all */
byte x; active proctype P(){ do :: { x<2; x++ } unless { x==1; x=3 } :: x==3 -> break od }
