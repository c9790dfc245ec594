/* A process that has to wait inside an atomic is seen there: a progress state. The step on from there makes progress, too. */
chan c = [1] of { bit };
active proctype P() { do :: atomic { c!0; progress: c!1 } od }
active proctype Q() { do :: c?_ od }
