//! What kind of automaton it is, and so which search is enough for it.
//!
//! Say it of a reduced automaton: the facts are about the automaton as it is, and useless states or marks hide them.

use crate::automaton::{Automaton, StateId};
use crate::guards::Guard;
use crate::product::is_empty;
use crate::reduce::Sccs;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Class {
    /// Nothing is accepted.
    pub empty: bool,
    /// In each component all cycles are accepted or none is: a cycle inside of an accepting component is a verdict.
    pub weak: bool,
    /// Weak, and an accepting component is never left nor stuck: to reach one is a verdict. Of a property's negation
    /// this says that the property is one of safety.
    pub terminal: bool,
    /// Every infinite run is accepted: what is accepted is a property of safety.
    pub safety: bool,
    /// For each word at most one run.
    pub deterministic: bool,
    /// For each word at least one run, accepted or not.
    pub complete: bool,
}

pub fn classify(automaton: &Automaton) -> Class {
    let mut a = automaton.clone();
    let sccs = Sccs::new(&a);
    let weak = sccs.is_weak(&a);
    let reached = |s: StateId| sccs.of[s.idx()] != u32::MAX;
    let states: Vec<StateId> = (0..a.n_states() as u32).map(StateId).filter(|&s| reached(s)).collect();
    let mut terminal = weak;
    let mut deterministic = a.initial.len() <= 1;
    let mut complete = !a.initial.is_empty();
    for &s in &states {
        let (mut any, mut inside) = (Guard::FALSE, Guard::FALSE);
        for t in &a.states[s.idx()] {
            deterministic &= a.guards.and(any, t.guard) == Guard::FALSE;
            any = a.guards.or(any, t.guard);
            if sccs.is_inside(s.idx(), t) {
                inside = a.guards.or(inside, t.guard);
            }
        }
        complete &= any == Guard::TRUE;
        terminal &= !sccs.is_accepting(sccs.of[s.idx()]) || inside == Guard::TRUE;
    }
    let cyclic = |c: u32| sccs.marks[c as usize].is_some();
    let safety = weak && (0..sccs.n() as u32).all(|c| !cyclic(c) || sccs.is_accepting(c));
    let empty = is_empty(&a);
    let accepts = |c: u32| sccs.is_accepting(c) && (cyclic(c) || a.n_marks == 0);
    debug_assert!(empty || (0..sccs.n() as u32).any(accepts), "something is accepted in an accepting component");
    Class { empty, weak, terminal, safety, deterministic, complete }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effort::Limits;
    use crate::formula::{Formula, PropId};
    use crate::reduce::reduce;
    use crate::translate::translate;

    fn p(n: u32) -> Box<Formula> {
        Box::new(Formula::Prop(PropId(n)))
    }

    fn of(f: Formula) -> Class {
        classify(&reduce(&translate(&f, Limits::default()).unwrap()))
    }

    #[test]
    fn the_usual_kinds() {
        let always = of(Formula::Always(p(0)));
        assert!(always.safety && always.weak && !always.terminal && always.deterministic && !always.complete);
        let eventually = of(Formula::Eventually(p(0)));
        assert!(eventually.terminal && eventually.weak && !eventually.safety && eventually.deterministic);
        let often = of(Formula::Always(Box::new(Formula::Eventually(p(0)))));
        assert!(!often.weak && !often.terminal && often.deterministic && often.complete && !often.empty);
        let finally = of(Formula::Eventually(Box::new(Formula::Always(p(0)))));
        assert!(finally.weak && !finally.terminal && !finally.deterministic);
        let until = of(Formula::Until(p(0), p(1)));
        assert!(until.terminal && until.deterministic && !until.complete);
        let weak_until = of(Formula::WeakUntil(p(0), p(1)));
        assert!(weak_until.safety && weak_until.weak && !weak_until.terminal);
    }

    #[test]
    fn everything_and_nothing() {
        let all = of(Formula::Or(p(0), Box::new(Formula::Not(p(0)))));
        assert!(all.terminal && all.safety && all.complete && !all.empty);
        let not = Box::new(Formula::Eventually(Box::new(Formula::Not(p(0)))));
        let none = of(Formula::And(Box::new(Formula::Always(p(0))), not));
        assert!(none.empty && none.weak && none.safety && none.terminal);
    }
}
