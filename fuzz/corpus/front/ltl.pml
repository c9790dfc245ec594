byte x, y;
init { x = 1 }
ltl a { [] x <= 5 }
ltl b { x -> y -> x }
ltl c { [] (x = 1) }
ltl d { x and y }
ltl e { [] (x => y) }
ltl f { [] }
ltl g { x U y U x }
ltl h { <> x == 1 && y }
ltl i { (x == 1 }
ltl j { x == 1
