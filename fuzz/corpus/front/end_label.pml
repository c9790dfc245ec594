/* truth: no error: the server may wait for ever, its label says so. */
chan q = [1] of { byte };
active proctype Server() { byte m;
end: do :: q?m od
}
active proctype Client() { q!1; q!2 }
