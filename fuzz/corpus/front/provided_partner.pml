/* a receiver held by its provided clause is no partner */
chan c = [0] of { byte };
bit ok;
active proctype S() { c!1; c!2 }
active proctype R() provided (ok) { byte x; c?x; c?x }
active proctype T() { ok = 1; ok = 0; ok = 1 }
