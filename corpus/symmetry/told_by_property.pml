/* truth: somebody is inside again and again; process 0 is only with strong fairness. A formula that names it tells it
   from the others, which can still change places. */
bool busy;
active [3] proctype user() { do :: atomic { !busy -> busy = true }; cs: busy = false od }
ltl one { []<> user[0]@cs }
ltl any { []<> (user[0]@cs || user[1]@cs || user[2]@cs) }
