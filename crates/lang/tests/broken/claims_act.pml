chan c = [1] of { bit };
byte x;
init { c!1; x = np_ }
never { byte y; do :: c?1 :: x == y od }
trace { x = 1; c!1 }
notrace { c!1 }
ltl f { x + (<> x) > 1 }
