/* progress states */
active proctype Holder() { progress: skip; (false) }
active proctype Spinner() { bit x; do :: x = 1 - x od }
