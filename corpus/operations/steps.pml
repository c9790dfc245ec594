/* What happens is told step by step. A handshake is a send and a receive; an atomic, as far as it comes, is one step; the
 * state that is looked at is the one before it; and where the run has ended nothing happens. */
chan c = [0] of { byte };
chan q = [2] of { byte };
chan r = [2] of { byte };

active proctype A()
{
	c!1;
	atomic { q!1; q!2; q!3 };
L:	d_step { r!4; r!5 };
	r!6
}

active proctype B()
{
	byte x;
	c?x;
end:	do
	:: q?x
	:: r?x
	od
}

ltl opening { happens(c!) && happens(c?1) && happens(A: c!1) && happens(B: c?) }
ltl not_by { [] !(happens(A: c?) || happens(B[0]: c?) || happens(c?2)) }
ltl together { [] (happens(q!1) <-> happens(q!2)) }
/* There is room for two: the third waits, and is another step. */
ltl apart { [] !(happens(q!2) && happens(q!3)) }
ltl at_once { [] ((happens(r!4) <-> happens(r!5)) && (happens(A@L) <-> happens(r!4))) }
ltl before { [] ((happens(q!3) -> len(q) < 2) && (happens(q?) -> len(q) > 0)) }
ltl next { [] (happens(q!1) -> X (len(q) == 2 && !happens(q!1))) }
ltl all_come { <> happens(q?3) && <> happens(r?6) }
ltl in_order { !happens(r?5) U happens(r?4) }
/* Not so. */
ltl for_ever { []<> happens(q?) }
ltl q_first { !happens(r!) W happens(q?2) }
ltl r_before_q { !happens(q?3) W happens(r!6) }
