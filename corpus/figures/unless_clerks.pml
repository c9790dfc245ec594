/* Clerks work by themselves between two jobs, and the boss counts until one of them is free. */
chan job = [0] of { bit };
byte n;
active [3] proctype Clerk() { byte x; do :: x = 1; x = 2; job?1; x = 3; x = 4; x = 0 od }
active proctype Boss() { { do :: n < 3 -> n++ od } unless { job!1 }; end: do :: job!1 od }
