/* truth: ltl never_below holds: g is never below -1, and the parentheses keep the minus with its number.
   SPIN 6.5.2 writes the formula out as g<-(1) and cannot read it back. */
short g = 5;
active proctype P() { do :: g > -1 -> g-- :: else -> break od }
ltl never_below { [] !(g < (-1)) }
