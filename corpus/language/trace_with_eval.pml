/* a trace compares with the value before the receive: the event does not match */
chan q=[2] of {byte}; byte x=0; active proctype P(){ q!1; q?x; end: false } trace { q?eval(x) }
