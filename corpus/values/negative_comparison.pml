/* truth: ltl never_below holds: g is never below -1, and the parentheses keep the minus with its number. */
short g = 5;
active proctype P() { do :: g > -1 -> g-- :: else -> break od }
ltl never_below { [] !(g < (-1)) }
