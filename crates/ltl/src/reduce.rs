//! A smaller automaton that accepts the same words.
//!
//! # The argument
//!   S1 a state from which no accepting component is reached is useless
//!   S2 marks matter inside of accepting components only
//!   S3 in a component, a mark is redundant if every transition with some other mark has it too: whoever takes the
//!      other infinitely often takes this one. The marks that remain are numbered anew in each component, and a
//!      component that needs fewer than another has the rest everywhere.
//!   S4 a component all of whose cycles are accepting may have all marks everywhere
//!   S5 states that simulate each other are one, and a transition is not needed where a better one is possible
//!      (`simulation`)
//!   S6 a transient state that has another state's transitions but for the marks is that state: its own marks are
//!      seen at most once. No cycle arises, for one through the state would have to come back to it.
//!
//!   In a state-based automaton marks belong to states, so S2, S4 and S6 are about whole states and nothing is
//!   removed from single transitions.
//!
//! # Owed
//!   O1 reduced = unreduced    tests: random formulas, by the products with the negation and on lassos

use crate::automaton::{Automaton, Marks, StateId, Transition};
use crate::graph::Components;
use crate::guards::Guard;
use crate::hash::QuickMap;
use crate::simulation;

/// Reduces until nothing changes any more.
pub fn reduce(automaton: &Automaton) -> Automaton {
    run(automaton, false)
}

/// The same for a state-based automaton, which stays one.
pub fn reduce_state_based(automaton: &Automaton) -> Automaton {
    assert!(automaton.is_state_based());
    let reduced = run(automaton, true);
    debug_assert!(reduced.is_state_based());
    reduced
}

fn run(automaton: &Automaton, state_based: bool) -> Automaton {
    let mut a = automaton.clone();
    let size = |a: &Automaton| (a.n_states(), a.n_transitions(), a.n_marks);
    loop {
        let before = size(&a);
        prune(&mut a);
        mark(&mut a, state_based);
        simulation::reduce(&mut a);
        twins(&mut a);
        if size(&a) == before {
            break;
        }
    }
    prune(&mut a);
    mark(&mut a, state_based);
    a.compact();
    debug_assert_eq!((), a.check());
    a
}

/// The components of an automaton and which of them are accepting.
pub(crate) struct Sccs {
    pub of: Vec<u32>,
    /// Whether there is a transition inside, and the marks of those inside.
    pub marks: Vec<Option<Marks>>,
    all: Marks,
}

impl Sccs {
    pub fn new(a: &Automaton) -> Sccs {
        let initial = a.initial.iter().map(|s| s.idx());
        let components = Components::new(a.n_states(), initial, |s, n| a.states[s].get(n).map(|t| t.target.idx()));
        let mut marks = vec![None; components.n];
        for (s, transitions) in a.states.iter().enumerate() {
            for t in transitions {
                if components.of[s] == components.of[t.target.idx()] && components.of[s] != u32::MAX {
                    let seen: &mut Option<Marks> = &mut marks[components.of[s] as usize];
                    *seen = Some(seen.unwrap_or_default().union(t.marks));
                }
            }
        }
        Sccs { of: components.of, marks, all: a.all_marks() }
    }

    pub fn n(&self) -> usize {
        self.marks.len()
    }

    pub fn is_accepting(&self, component: u32) -> bool {
        self.marks[component as usize] == Some(self.all)
    }

    /// Is the state in no cycle?
    pub fn is_transient(&self, state: StateId) -> bool {
        self.marks[self.of[state.idx()] as usize].is_none()
    }

    /// A mark that some cycle inside of the component lacks.
    pub fn rejected_cycle_in(&self, a: &Automaton, component: u32) -> Option<u32> {
        let inside = inside(a, self, component);
        (0..a.n_marks).find(|&m| has_cycle_without(a, &inside, m))
    }

    pub fn is_inside(&self, from: usize, t: &Transition) -> bool {
        self.of[from] == self.of[t.target.idx()]
    }
}

/// S1
fn prune(a: &mut Automaton) {
    let sccs = Sccs::new(a);
    // Components are numbered backwards, so those that a component leads to are decided before it.
    let mut useful: Vec<bool> = (0..sccs.n() as u32).map(|c| sccs.is_accepting(c)).collect();
    let mut states: Vec<usize> = (0..a.n_states()).filter(|&s| sccs.of[s] != u32::MAX).collect();
    states.sort_by_key(|&s| sccs.of[s]);
    for s in states {
        if a.states[s].iter().any(|t| useful[sccs.of[t.target.idx()] as usize]) {
            useful[sccs.of[s] as usize] = true;
        }
    }
    a.restrict(|s| useful[sccs.of[s.idx()] as usize]);
}

/// S2, S3, S4
fn mark(a: &mut Automaton, state_based: bool) {
    let sccs = Sccs::new(a);
    let mut needed: Vec<Vec<u32>> = Vec::new();
    for component in 0..sccs.n() as u32 {
        let inside = inside(a, &sccs, component);
        needed.push(if sccs.is_accepting(component) { needed_marks(a, &inside) } else { Vec::new() });
    }
    let mut n_marks = needed.iter().map(|n| n.len()).max().unwrap_or(0) as u32;
    let rejects = |c: u32| sccs.marks[c as usize].is_some() && !sccs.is_accepting(c);
    if n_marks == 0 && (0..sccs.n() as u32).any(rejects) {
        n_marks = 1;
    }
    for s in 0..a.n_states() {
        let component = sccs.of[s];
        let needed = &needed[component as usize];
        for t in &mut a.states[s] {
            // Of a state-based automaton all transitions of a state stay alike.
            t.marks = if sccs.is_accepting(component) && (state_based || sccs.of[t.target.idx()] == component) {
                let lacking = needed.iter().enumerate().filter(|&(_, &m)| !t.marks.has(m));
                Marks(lacking.fold(Marks::all(n_marks).0, |marks, (n, _)| marks & !(1 << n)))
            } else {
                Marks::NONE
            };
        }
        Automaton::join(&mut a.guards, &mut a.states[s]);
    }
    a.n_marks = n_marks;
}

/// The transitions inside of a component.
fn inside(a: &Automaton, sccs: &Sccs, component: u32) -> Vec<(usize, Transition)> {
    let members = (0..a.n_states()).filter(|&s| sccs.of[s] == component);
    members.flat_map(|s| a.states[s].iter().filter(move |t| sccs.is_inside(s, t)).map(move |t| (s, *t))).collect()
}

/// The marks without which some cycle of an accepting component would count that does not (S3, S4).
fn needed_marks(a: &Automaton, inside: &[(usize, Transition)]) -> Vec<u32> {
    let mut kept: Vec<u32> = (0..a.n_marks).filter(|&m| has_cycle_without(a, inside, m)).collect();
    let mut i = 0;
    while i < kept.len() {
        let m = kept[i];
        let implied = |other: u32| inside.iter().all(|(_, t)| !t.marks.has(other) || t.marks.has(m));
        if kept.iter().any(|&other| other != m && implied(other)) {
            kept.remove(i);
        } else {
            i += 1;
        }
    }
    kept
}

fn has_cycle_without(a: &Automaton, inside: &[(usize, Transition)], mark: u32) -> bool {
    let mut without: Vec<Vec<usize>> = vec![Vec::new(); a.n_states()];
    for (s, t) in inside.iter().filter(|(_, t)| !t.marks.has(mark)) {
        without[*s].push(t.target.idx());
    }
    let components = Components::new(without.len(), inside.iter().map(|(s, _)| *s), |s, n| without[s].get(n).copied());
    let cyclic = |s: usize, to: &usize| components.of[s] == components.of[*to];
    without.iter().enumerate().any(|(s, targets)| targets.iter().any(|to| cyclic(s, to)))
}

/// S6
fn twins(a: &mut Automaton) {
    let sccs = Sccs::new(a);
    let guards = &mut a.guards;
    let shape = |transitions: &Vec<Transition>| -> Vec<(StateId, Guard)> {
        let unmarked = transitions.iter().map(|t| Transition { marks: Marks::NONE, ..*t });
        let mut unmarked: Vec<Transition> = unmarked.collect();
        Automaton::join(guards, &mut unmarked);
        unmarked.into_iter().map(|t| (t.target, t.guard)).collect()
    };
    let shapes: Vec<Vec<(StateId, Guard)>> = a.states.iter().map(shape).collect();
    let mut models: QuickMap<&[(StateId, Guard)], StateId> = QuickMap::default();
    let mut stands_for: Vec<StateId> = (0..a.n_states() as u32).map(StateId).collect();
    // States in cycles first: a transient state may go, they may not.
    let (transient, lasting): (Vec<StateId>, Vec<StateId>) =
        (0..a.n_states() as u32).map(StateId).partition(|&s| sccs.is_transient(s));
    for s in lasting {
        models.entry(&shapes[s.idx()]).or_insert(s);
    }
    for s in transient {
        stands_for[s.idx()] = *models.entry(&shapes[s.idx()]).or_insert(s);
    }
    redirect(a, &stands_for);
}

/// Whatever leads to `s` leads to `stands_for[s]`.
pub(crate) fn redirect(a: &mut Automaton, stands_for: &[StateId]) {
    for t in a.states.iter_mut().flatten() {
        t.target = stands_for[t.target.idx()];
    }
    for s in &mut a.initial {
        *s = stands_for[s.idx()];
    }
    a.restrict(|_| true);
}
