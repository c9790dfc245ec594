/* A handshake makes progress by the receiver's label. The receiver stands at it whenever the sender could move. */
chan c = [0] of { bit };
active proctype P() { do :: c!0 od }
active proctype Q() { progress: do :: c?_ od }
