/* The receiver's label is behind the handshake. */
chan c = [0] of { bit };
active proctype P() { do :: c!0 od }
active proctype Q() { do :: c?_; progress: skip od }
