/* p */
/* Whether q!1 comes before r!1 can be told by the operations alone: nothing else is looked at. */
chan q = [1] of { byte };
chan r = [1] of { byte };

active proctype A() { q!1 }
active proctype B() { r!1 }

ltl p { !happens(q!) U happens(r!) }
