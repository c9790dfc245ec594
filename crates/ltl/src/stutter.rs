//! Does a formula tell two words apart that differ only in how often a state is repeated?
//!
//! # The argument
//!   A formula without `X` does not. Otherwise (Michaud and Duret-Lutz, SPIN 2015): the *closure* of an automaton
//!   also accepts every accepted word from which repetitions were removed: where one transition follows another under
//!   the same valuation, a single one with the marks of both does the work of the two. If two words differ in
//!   repetitions alone, and one satisfies the formula and the other does not, then the word with the smaller number of
//!   repetitions at each place is in the closure of both automata. So the formula is invariant if and only if the
//!   closures of its automaton and of its negation's have no word in common.
//!
//!   Of an automaton the negation is its complement. Propositions are taken for independent of each other: if
//!   some valuations never occur, the answer may be no where nothing that occurs tells words apart, never the other way
//!   round.
//!
//! # Cost  the closure may have as many transitions as there are pairs of states, sets of marks and guards; the
//! complement is exponential. `Limits` stops both.

use crate::automaton::{Automaton, Transition};
use crate::complement::complement_within;
use crate::effort::{Effort, Limits, TooLarge};
use crate::formula::Formula;
use crate::guards::Guard;
use crate::lasso::{Valuation, eval_lasso, some_lassos};
use crate::product::{is_empty, product};
use crate::reduce::reduce_within;
use crate::rules::simplify;
use crate::translate::translate_within;

/// See the module. An error says that it is not known.
pub fn is_stutter_invariant(formula: &Formula, limits: Limits) -> Result<bool, TooLarge> {
    if !formula.has_next() || !simplify(formula).has_next() {
        debug_assert!(tells_no_repetitions(formula), "what has no `X` cannot count");
        return Ok(true);
    }
    let invariant = by_closures(formula, limits)?;
    debug_assert!(!invariant || tells_no_repetitions(formula), "what is invariant says the same with more repetitions");
    Ok(invariant)
}

/// For checks: of some words, the formula says the same if each state is there twice.
fn tells_no_repetitions(formula: &Formula) -> bool {
    let twice = |word: &[Valuation]| word.iter().flat_map(|v| [v.clone(), v.clone()]).collect::<Vec<_>>();
    let props = formula.props();
    some_lassos(&props, 4, 0).all(|(stem, cycle)| {
        let longer = eval_lasso(formula, &twice(&stem), &twice(&cycle)).holds();
        eval_lasso(formula, &stem, &cycle).holds() == longer
    })
}

/// The same of an automaton.
pub fn is_automaton_stutter_invariant(automaton: &Automaton, limits: Limits) -> Result<bool, TooLarge> {
    let effort = &mut Effort::new(&limits);
    let yes = reduce_within(automaton, effort);
    let no = complement_within(&yes, limits, effort)?;
    are_closures_apart(&yes, &no, limits, effort)
}

fn by_closures(formula: &Formula, limits: Limits) -> Result<bool, TooLarge> {
    let effort = &mut Effort::new(&limits);
    let not = Formula::Not(Box::new(formula.clone()));
    let yes = reduce_within(&translate_within(formula, limits, effort)?, effort);
    let no = reduce_within(&translate_within(&not, limits, effort)?, effort);
    are_closures_apart(&yes, &no, limits, effort)
}

/// The smaller one is closed first: often its closure has something in common with the other as it is.
fn are_closures_apart(yes: &Automaton, no: &Automaton, limits: Limits, effort: &mut Effort) -> Result<bool, TooLarge> {
    let (small, large) = if yes.n_transitions() <= no.n_transitions() { (yes, no) } else { (no, yes) };
    let small = closure(small, limits, effort)?;
    if !have_nothing_in_common(&small, large, limits)? {
        return Ok(false);
    }
    let large = closure(large, limits, effort)?;
    have_nothing_in_common(&small, &large, limits)
}

fn have_nothing_in_common(a: &Automaton, b: &Automaton, limits: Limits) -> Result<bool, TooLarge> {
    let (states, transitions) = (a.n_states() * b.n_states(), a.n_transitions() * b.n_transitions());
    if transitions as u64 > limits.steps {
        return Err(TooLarge { states, transitions, operators: 0 });
    }
    Ok(is_empty(&product(a, b)))
}

fn closure(automaton: &Automaton, limits: Limits, effort: &mut Effort) -> Result<Automaton, TooLarge> {
    let mut a = automaton.clone();
    let mut n_transitions = a.n_transitions();
    let mut changed = true;
    while changed {
        changed = false;
        for s in 0..a.n_states() {
            let mut next = 0;
            while let Some(&first) = a.states[s].get(next) {
                next += 1;
                for second in a.states[first.target.idx()].clone() {
                    let marks = first.marks.union(second.marks);
                    let mut guard = a.guards.and(first.guard, second.guard);
                    if guard == Guard::FALSE {
                        continue;
                    }
                    for known in a.states[s].iter().filter(|k| k.target == second.target && marks.within(k.marks)) {
                        guard = a.guards.minus(guard, known.guard);
                    }
                    let work = a.states[s].len() as u64 / 8;
                    if guard != Guard::FALSE {
                        a.states[s].push(Transition { target: second.target, marks, guard });
                        n_transitions += 1;
                        changed = true;
                    }
                    if n_transitions > limits.transitions || !effort.goes_on(&mut a.guards, work) {
                        return Err(TooLarge { states: a.n_states(), transitions: n_transitions, operators: 0 });
                    }
                }
            }
        }
    }
    debug_assert_eq!(is_empty(&a), is_empty(automaton), "who accepts nothing accepts no word with fewer repetitions");
    Ok(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::PropId;
    use Formula::*;

    fn p(n: u32) -> Box<Formula> {
        Box::new(Prop(PropId(n)))
    }

    fn not(f: Box<Formula>) -> Box<Formula> {
        Box::new(Not(f))
    }

    fn next(f: Box<Formula>) -> Box<Formula> {
        Box::new(Next(f))
    }

    fn invariant(f: Formula) -> bool {
        is_stutter_invariant(&f, Limits::default()).unwrap()
    }

    #[test]
    fn what_next_can_and_cannot_hide() {
        assert!(!invariant(*next(p(0))));
        assert!(!invariant(Until(p(0), next(p(1)))));
        // An edge from p to not p that must come: F (p && X !p), for which F (p && F !p) is another spelling.
        assert!(invariant(Eventually(Box::new(And(p(0), next(not(p(0))))))));
        // Infinitely many edges.
        let edges = Eventually(Box::new(And(p(0), next(not(p(0))))));
        assert!(invariant(Always(Box::new(edges))));
        // p holds at every second position at least.
        assert!(!invariant(Always(Box::new(Or(p(0), next(p(0)))))));
        // q at the moment at which p begins.
        let begin = And(not(p(0)), next(p(0)));
        assert!(invariant(Always(Box::new(Implies(Box::new(begin.clone()), next(p(1)))))));
        assert!(!invariant(Always(Box::new(Implies(Box::new(begin), next(next(p(1))))))));
        // Infinitely often twice in a row: the second transition of the two has the mark.
        let twice = Eventually(Box::new(And(p(0), next(p(0)))));
        assert!(!invariant(Always(Box::new(twice))));
        // Once p, always p.
        assert!(invariant(Always(Box::new(Implies(p(0), next(p(0)))))));
        assert!(invariant(And(p(0), next(Box::new(True)))));
        assert!(!invariant(And(p(0), next(not(p(0))))));
    }

    #[test]
    fn closures_find_nothing_without_next() {
        let often = |n| Box::new(Always(Box::new(Eventually(p(n)))));
        for f in [
            Until(p(0), Box::new(Until(p(1), p(2)))),
            Always(Box::new(Implies(p(0), Box::new(Eventually(p(1)))))),
            Implies(often(0), often(1)),
            WeakUntil(Box::new(Until(p(0), p(1))), Box::new(And(p(2), not(p(0))))),
        ] {
            assert!(by_closures(&f, Limits::default()).unwrap(), "{f}");
        }
    }

    #[test]
    fn a_closed_transition_has_the_marks_of_both() {
        let text = "HOA: v1 Start: 0 AP: 1 \"p\" Acceptance: 2 Inf(0)&Inf(1) --BODY--
            State: 0 [0] 1 {0} State: 1 [0] 2 {1} State: 2 [!0] 0 --END--";
        let a = crate::from_hoa(text).unwrap().automaton;
        let (yes, no) = (crate::Valuation::new([PropId(0)]), crate::Valuation::default());
        let accepts = |a: &Automaton, word: &[&crate::Valuation]| {
            crate::accepts_lasso(a, &[], &word.iter().copied().cloned().collect::<Vec<_>>())
        };
        let closed = closure(&a, Limits::default(), &mut Effort::usual()).unwrap();
        assert!(accepts(&a, &[&yes, &yes, &no]) && !accepts(&a, &[&yes, &no]));
        assert!(accepts(&closed, &[&yes, &yes, &no]) && accepts(&closed, &[&yes, &no]));
        assert!(!accepts(&closed, &[&yes]) && !accepts(&closed, &[&no]));
    }
}
