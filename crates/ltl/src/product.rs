//! The product of two automata, whether an automaton accepts anything, and whether it accepts a lasso.
//!
//! # The argument
//!   Something is accepted if and only if a component of the graph that an initial state reaches holds, on its own
//!   transitions, every mark. The product of an automaton with a lasso is a graph of pairs of states and positions.

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::degeneralise::degeneralise;
use crate::formula::PropId;
use crate::graph::Components;
use crate::guards::Guard;
use crate::hash::QuickMap;
use crate::lasso::{Valuation, some_lassos};

/// Accepts what both accept.
pub fn product(a: &Automaton, b: &Automaton) -> Automaton {
    if a.n_marks + b.n_marks > Marks::MOST {
        return product(&degeneralise(a), &degeneralise(b));
    }
    let one_is_empty = cfg!(debug_assertions) && (is_empty(a) || is_empty(b));
    let mut props = a.props.clone();
    let columns = columns_of(&b.props, &mut props);
    let mut b = b.clone();
    b.move_guards(a.guards.clone(), &columns);
    let mut guards = b.guards;
    let mut numbers: QuickMap<(StateId, StateId), StateId> = QuickMap::default();
    let mut pairs: Vec<(StateId, StateId)> = Vec::new();
    let mut number = |pair, pairs: &mut Vec<(StateId, StateId)>| {
        *numbers.entry(pair).or_insert_with(|| {
            pairs.push(pair);
            StateId(pairs.len() as u32 - 1)
        })
    };
    let mut initial = Vec::new();
    for &s in &a.initial {
        for &t in &b.initial {
            initial.push(number((s, t), &mut pairs));
        }
    }
    let mut states = Vec::new();
    while let Some(&(s, t)) = pairs.get(states.len()) {
        let mut transitions = Vec::new();
        for x in &a.states[s.idx()] {
            for y in &b.states[t.idx()] {
                let guard = guards.and(x.guard, y.guard);
                if guard != Guard::FALSE {
                    let target = number((x.target, y.target), &mut pairs);
                    transitions.push(Transition { target, marks: Marks(x.marks.0 | y.marks.0 << a.n_marks), guard });
                }
            }
        }
        Automaton::join(&mut guards, &mut transitions);
        states.push(transitions);
    }
    let made = Automaton { props, guards, initial, states, n_marks: a.n_marks + b.n_marks };
    debug_assert_eq!((), made.check());
    debug_assert!(!one_is_empty || is_empty(&made), "what both accept each of them does");
    made
}

/// Accepts what one of them accepts: it has the states of both.
pub fn union(a: &Automaton, b: &Automaton) -> Automaton {
    let mut props = a.props.clone();
    let columns = columns_of(&b.props, &mut props);
    let both_empty = cfg!(debug_assertions) && is_empty(a) && is_empty(b);
    let (mut a, mut b) = (a.clone(), b.clone());
    b.move_guards(std::mem::take(&mut a.guards), &columns);
    let n_marks = a.n_marks.max(b.n_marks);
    // Marks that a part does not know are everywhere in it.
    let (of_a, of_b) = (a.all_marks(), b.all_marks());
    let first = a.n_states() as u32;
    for t in a.states.iter_mut().flatten() {
        t.marks = Marks(t.marks.0 | Marks::all(n_marks).0 & !of_a.0);
    }
    for t in b.states.iter_mut().flatten() {
        *t = Transition {
            target: StateId(t.target.0 + first),
            marks: Marks(t.marks.0 | Marks::all(n_marks).0 & !of_b.0),
            guard: t.guard,
        };
    }
    let initial = a.initial.into_iter().chain(b.initial.into_iter().map(|s| StateId(s.0 + first))).collect();
    let states = a.states.into_iter().chain(b.states).collect();
    let made = Automaton { props, guards: b.guards, initial, states, n_marks };
    debug_assert_eq!((), made.check());
    debug_assert_eq!(is_empty(&made), both_empty, "it accepts something if one of them does");
    made
}

/// Where each of `props` is among `all`, which grows by those that are not there.
pub(crate) fn columns_of(props: &[PropId], all: &mut Vec<PropId>) -> Vec<u32> {
    let mut column = |prop: &PropId| {
        all.iter().position(|p| p == prop).unwrap_or_else(|| {
            all.push(*prop);
            all.len() - 1
        }) as u32
    };
    let columns: Vec<u32> = props.iter().map(&mut column).collect();
    debug_assert!(props.iter().zip(&columns).all(|(p, c)| all[*c as usize] == *p), "a column is its proposition's");
    columns
}

/// Does the automaton accept nothing?
pub fn is_empty(automaton: &Automaton) -> bool {
    let initial = automaton.initial.iter().map(|s| s.idx());
    let edges = |s: usize, n: usize| automaton.states[s].get(n).map(|t| (t.target.idx(), t.marks));
    !accepts_something(automaton.n_states(), initial, edges, automaton.all_marks())
}

/// Does the automaton accept the stem followed by the cycle for ever? Panics if the cycle is empty.
pub fn accepts_lasso(automaton: &Automaton, stem: &[Valuation], cycle: &[Valuation]) -> bool {
    assert!(!cycle.is_empty(), "a cycle has at least one state");
    let word: Vec<Vec<u64>> = stem.iter().chain(cycle).map(|v| automaton.bits(v)).collect();
    let n = word.len();
    let mut edges: Vec<Vec<(usize, Marks)>> = Vec::with_capacity(automaton.n_states() * n);
    for s in 0..automaton.n_states() {
        for (at, bits) in word.iter().enumerate() {
            let after = if at + 1 < n { at + 1 } else { stem.len() };
            let enabled = automaton.enabled(StateId(s as u32), bits);
            edges.push(enabled.map(|t| (t.target.idx() * n + after, t.marks)).collect());
        }
    }
    let initial = automaton.initial.iter().map(|s| s.idx() * n);
    accepts_something(edges.len(), initial, |s, k| edges[s].get(k).copied(), automaton.all_marks())
}

/// For larger automata checks by words take too long.
const MOST_CHECKED: usize = 200;

/// For checks: whether an automaton accepts what it should, of some words over these propositions. Larger ones are believed.
pub(crate) fn accepts_as(a: &Automaton, props: &[PropId], should: impl Fn(&[Valuation], &[Valuation]) -> bool) -> bool {
    let seed = a.n_transitions() as u64;
    let is_right = |(stem, cycle): (Vec<_>, Vec<_>)| accepts_lasso(a, &stem, &cycle) == should(&stem, &cycle);
    a.n_transitions() > MOST_CHECKED || some_lassos(props, 3, seed).all(is_right)
}

/// The same for an automaton that should accept what another one does.
pub(crate) fn accept_the_same(a: &Automaton, b: &Automaton) -> bool {
    is_empty(a) == is_empty(b)
        && (a.n_transitions() > MOST_CHECKED || accepts_as(b, &a.props, |stem, cycle| accepts_lasso(a, stem, cycle)))
}

fn accepts_something(
    n: usize,
    initial: impl Iterator<Item = usize>,
    edge: impl Fn(usize, usize) -> Option<(usize, Marks)>,
    all: Marks,
) -> bool {
    let components = Components::new(n, initial, |s, k| edge(s, k).map(|(to, _)| to));
    let mut seen: Vec<Option<Marks>> = vec![None; components.n];
    for s in (0..n).filter(|&s| components.of[s] != u32::MAX) {
        let component = components.of[s];
        let mut k = 0;
        while let Some((to, marks)) = edge(s, k) {
            if components.of[to] == component {
                let seen = seen[component as usize].get_or_insert(Marks::NONE);
                *seen = seen.union(marks);
            }
            k += 1;
        }
    }
    seen.contains(&Some(all))
}
