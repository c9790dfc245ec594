//! Many conditions, each of which is to hold infinitely often: `G F p1 && ... && G F pn`.
//!
//! # The argument
//!   With a mark for each condition one state is enough, but a transition has the marks of the conditions that hold
//!   and there are two to the n sets of them. Above `MOST_OFTEN` conditions they are waited for in turn instead, as
//!   `degeneralise` does with marks: n copies of the states and at most n transitions for one. When a round is complete,
//!   the transition has the one mark there is for all of them.
//!   All positions of a word agree about these formulas, so the waiting may begin anywhere: outside of accepting
//!   components one copy is enough.
//!
//! # Owed
//!   O1 the result accepts what `rest` does if each condition holds infinitely often    tests: against the formula on lassos

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::effort::TooLarge;
use crate::formula::PropId;
use crate::guards::{Guard, Guards};
use crate::hash::QuickMap;
use crate::product::{columns_of, is_empty};
use crate::reduce::Sccs;

/// With so many and fewer a mark each is better: the search for runs multiplies states by states, not by transitions.
pub const MOST_OFTEN: usize = 10;

/// What `rest` accepts of the words in which each of the conditions, functions of `guards` over `props`, holds
/// infinitely often.
pub fn with_often(
    rest: &Automaton,
    often: &[Guard],
    guards: &Guards,
    props: &[PropId],
    most_transitions: usize,
) -> Result<Automaton, TooLarge> {
    let mut known = rest.props.clone();
    let columns = columns_of(props, &mut known);
    let mut pool = rest.guards.clone();
    let mut done = QuickMap::default();
    let often: Vec<Guard> = often.iter().map(|&g| pool.import(guards, g, &columns, &mut done)).collect();
    if rest.n_marks == Marks::MOST {
        return Err(TooLarge::default());
    }
    let complete = Marks::NONE.with(rest.n_marks);
    let sccs = Sccs::new(rest);
    let mut numbers: QuickMap<(StateId, usize), StateId> = QuickMap::default();
    let mut todo: Vec<(StateId, usize)> = Vec::new();
    let mut number = |s: StateId, level: usize, todo: &mut Vec<(StateId, usize)>| {
        *numbers.entry((s, level)).or_insert_with(|| {
            todo.push((s, level));
            StateId(todo.len() as u32 - 1)
        })
    };
    let initial = rest.initial.iter().map(|&s| number(s, 0, &mut todo)).collect();
    let mut states: Vec<Vec<Transition>> = Vec::new();
    let mut n_transitions = 0;
    while let Some(&(s, level)) = todo.get(states.len()) {
        let mut transitions = Vec::new();
        for t in &rest.states[s.idx()] {
            if !(sccs.is_inside(s.idx(), t) && sccs.is_accepting(sccs.of[s.idx()])) {
                transitions.push(Transition { target: number(t.target, 0, &mut todo), ..*t });
                continue;
            }
            let mut seen = t.guard;
            for (n, &condition) in often.iter().enumerate().skip(level) {
                let guard = pool.minus(seen, condition);
                transitions.push(Transition { target: number(t.target, n, &mut todo), guard, ..*t });
                seen = pool.and(seen, condition);
            }
            let marks = t.marks.union(complete);
            transitions.push(Transition { target: number(t.target, 0, &mut todo), marks, guard: seen });
        }
        Automaton::join(&mut pool, &mut transitions);
        n_transitions += transitions.len();
        states.push(transitions);
        if n_transitions > most_transitions {
            return Err(TooLarge { states: states.len(), transitions: n_transitions, operators: 0 });
        }
    }
    let mut a = Automaton { props: known, guards: pool, initial, states, n_marks: rest.n_marks + 1 };
    a.restrict(|_| true);
    debug_assert_eq!((), a.check());
    debug_assert!(!is_empty(rest) || is_empty(&a), "nothing is accepted that the rest does not accept");
    Ok(a)
}
