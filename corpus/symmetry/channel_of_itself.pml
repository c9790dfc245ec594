/* A channel is a field of its own messages. */
chan q = [1] of { chan };
active [2] proctype P() { chan c; q!q; q?c; assert(c == q) }
