//! Many marks become one.
//!
//! # The argument
//!   A copy of the automaton for each *level*: at level `i` the run waits for mark `i`. A transition goes up as many
//!   levels as it has marks in a row from there. At the top all marks have been seen since the bottom; then it is
//!   marked, and the count starts again.
//!   L1 levels count inside of an accepting component only: elsewhere one copy is enough
//!   L2 whoever enters a component may start at any level: at one where the target already is, if there is one
//!   L3 state-based, the top is a level of its own whose states are accepting and which counts on as the bottom does.
//!      If all transitions inside of the component that leave a state have some mark, the run has it as good as seen
//!      when it arrives.
//!   L4 the order in which the marks are waited for is free: some are tried and the smallest result is taken
//!
//! # Owed
//!   O1 the result accepts the same words    tests: random formulas

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::effort::Effort;
use crate::hash::QuickMap;
use crate::product::accept_the_same;
use crate::reduce::{Sccs, reduce_state_based_within, reduce_within};

/// Orders of marks that are tried.
const MOST_ORDERS: usize = 12;
/// With more transitions only the first order is tried.
const MOST_TRANSITIONS: usize = 2_000;

/// An automaton with at most one mark that accepts the same words, reduced.
pub fn degeneralise(automaton: &Automaton) -> Automaton {
    let mut effort = Effort::usual();
    let automaton = reduce_within(automaton, &mut effort);
    with_one_mark(&automaton, &mut effort)
}

/// Of a reduced automaton.
fn with_one_mark(automaton: &Automaton, effort: &mut Effort) -> Automaton {
    if automaton.n_marks <= 1 {
        return automaton.clone();
    }
    smallest(automaton, effort, |order, effort| reduce_within(&levels(automaton, order, false), effort))
}

/// A state-based automaton that accepts the same words, reduced: a Büchi automaton, as never claims are.
pub fn state_based(automaton: &Automaton) -> Automaton {
    let mut effort = Effort::usual();
    let general = reduce_within(automaton, &mut effort);
    state_based_within(&general, &mut effort)
}

/// Of a reduced automaton.
pub(crate) fn state_based_within(general: &Automaton, effort: &mut Effort) -> Automaton {
    let make = |order: &[u32], effort: &mut Effort| reduce_state_based_within(&levels(general, order, true), effort);
    let direct = smallest(general, effort, make);
    if general.n_marks <= 1 {
        return direct;
    }
    let one = with_one_mark(general, effort);
    let twice = reduce_state_based_within(&levels(&one, &[0], true), effort);
    if size(&twice) < size(&direct) { twice } else { direct }
}

fn size(a: &Automaton) -> (usize, usize) {
    (a.n_states(), a.n_transitions())
}

/// L4
fn smallest(a: &Automaton, effort: &mut Effort, make: impl Fn(&[u32], &mut Effort) -> Automaton) -> Automaton {
    let marks: Vec<u32> = (0..a.n_marks).collect();
    let n_orders = if a.n_transitions() > MOST_TRANSITIONS { 1 } else { MOST_ORDERS };
    let made = orders(&marks).into_iter().take(n_orders).map(|order| make(&order, effort));
    made.min_by_key(size).expect("there is at least one order")
}

/// All orders of few marks, the rotations in both directions of many.
fn orders(marks: &[u32]) -> Vec<Vec<u32>> {
    if marks.len() <= 3 {
        let mut all: Vec<Vec<u32>> = vec![Vec::new()];
        for &m in marks {
            let insert = |order: &Vec<u32>| -> Vec<Vec<u32>> {
                (0..=order.len()).map(|at| [&order[..at], &[m], &order[at..]].concat()).collect()
            };
            all = all.iter().flat_map(insert).collect();
        }
        debug_assert_eq!(all.len(), (1..=marks.len()).product::<usize>(), "L4");
        return all;
    }
    let backwards: Vec<u32> = marks.iter().rev().copied().collect();
    let rotate = |order: &[u32], n: usize| [&order[n..], &order[..n]].concat();
    (0..marks.len()).flat_map(|n| [rotate(marks, n), rotate(&backwards, n)]).collect()
}

fn levels(a: &Automaton, order: &[u32], state_based: bool) -> Automaton {
    assert!(order.len() == a.n_marks as usize && (0..a.n_marks).all(|m| order.contains(&m)), "each mark is waited for");
    let sccs = Sccs::new(a);
    let top = order.len() as u32;
    let accepting = |s: StateId| sccs.is_accepting(sccs.of[s.idx()]);
    let up = |mut level: u32, marks: Marks| {
        while level < top && marks.has(order[level as usize]) {
            level += 1;
        }
        level
    };
    // L3
    let certain: Vec<Marks> = (0..a.n_states())
        .map(|s| {
            let inside = a.states[s].iter().filter(|t| sccs.is_inside(s, t));
            Marks(inside.fold(if state_based { u64::MAX } else { 0 }, |all, t| all & t.marks.0))
        })
        .collect();
    let arrive = |s: StateId, level: u32| if accepting(s) { up(level, certain[s.idx()]) } else { 0 };

    let mut numbers: QuickMap<(StateId, u32), StateId> = QuickMap::default();
    let mut entry: QuickMap<StateId, u32> = QuickMap::default();
    let mut todo: Vec<(StateId, u32)> = Vec::new();
    let mut number = |s: StateId, level: u32, entry: &mut QuickMap<StateId, u32>, todo: &mut Vec<(StateId, u32)>| {
        entry.entry(s).or_insert(level);
        *numbers.entry((s, level)).or_insert_with(|| {
            todo.push((s, level));
            StateId(todo.len() as u32 - 1)
        })
    };
    let initial = a.initial.iter().map(|&s| number(s, arrive(s, 0), &mut entry, &mut todo)).collect();
    let mut guards = a.guards.clone();
    let mut states: Vec<Vec<Transition>> = Vec::new();
    while let Some(&(s, level)) = todo.get(states.len()) {
        let mut transitions = Vec::new();
        for t in &a.states[s.idx()] {
            if !(accepting(s) && sccs.is_inside(s.idx(), t)) {
                let start = entry.get(&t.target).copied().unwrap_or_else(|| arrive(t.target, 0)); // L1, L2
                let target = number(t.target, start, &mut entry, &mut todo);
                let marks = if state_based && accepting(s) && level == top { Marks::all(1) } else { Marks::NONE };
                transitions.push(Transition { target, marks, guard: t.guard });
                continue;
            }
            let (to, marks) = if state_based {
                let from = if level == top { 0 } else { level };
                (arrive(t.target, up(from, t.marks)), if level == top { Marks::all(1) } else { Marks::NONE })
            } else {
                match up(level, t.marks) {
                    l if l == top => (up(0, t.marks) % top.max(1), Marks::all(1)),
                    l => (l, Marks::NONE),
                }
            };
            let target = number(t.target, to, &mut entry, &mut todo);
            transitions.push(Transition { target, marks, guard: t.guard });
        }
        Automaton::join(&mut guards, &mut transitions);
        states.push(transitions);
    }
    let made = Automaton { props: a.props.clone(), guards, initial, states, n_marks: 1 };
    debug_assert_eq!((), made.check());
    debug_assert!(!state_based || made.is_state_based(), "L3");
    debug_assert!(accept_the_same(a, &made), "O1");
    made
}
