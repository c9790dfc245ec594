/* static and changing priorities */
byte x;
proctype A() priority 5 { x = 1; x = 2 }
active proctype B() priority 3 { run A() priority 4; x = 3; set_priority(0, 1); x = 4; assert(get_priority(0) == 1) }
active proctype C() priority 2 { x == 3; x = 5; _priority = 9; x = 6 }
