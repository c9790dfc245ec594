chan a = [2];
chan b = [1] { byte };
chan c = [1] of { byte x, byte y };
chan d = [1] of { byte; mtype };
chan e = 3;
init { skip }
