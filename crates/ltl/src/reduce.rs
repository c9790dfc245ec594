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
use crate::effort::Effort;
use crate::graph::Components;
use crate::guards::Guard;
use crate::hash::QuickMap;
use crate::product::accept_the_same;
use crate::simulation;

/// Reduces until nothing changes any more, or until that takes too long.
pub fn reduce(automaton: &Automaton) -> Automaton {
    reduce_within(automaton, &mut Effort::usual())
}

pub(crate) fn reduce_within(automaton: &Automaton, effort: &mut Effort) -> Automaton {
    run(automaton, false, effort)
}

/// The same for a state-based automaton, which stays one.
pub fn reduce_state_based(automaton: &Automaton) -> Automaton {
    reduce_state_based_within(automaton, &mut Effort::usual())
}

pub(crate) fn reduce_state_based_within(automaton: &Automaton, effort: &mut Effort) -> Automaton {
    assert!(automaton.is_state_based(), "a state-based one stays one");
    let reduced = run(automaton, true, effort);
    debug_assert!(reduced.is_state_based(), "a state-based one stays one");
    reduced
}

fn run(automaton: &Automaton, state_based: bool, effort: &mut Effort) -> Automaton {
    let mut a = automaton.clone();
    a.guards.take_steps();
    let size = |a: &Automaton| (a.n_states(), a.n_transitions(), a.n_marks);
    loop {
        let before = size(&a);
        prune(&mut a);
        mark(&mut a, state_based);
        simulation::reduce(&mut a, effort);
        twins(&mut a);
        let work = a.n_transitions() as u64;
        if size(&a) == before || !effort.goes_on(&mut a.guards, work) {
            break;
        }
    }
    prune(&mut a);
    mark(&mut a, state_based);
    a.compact();
    debug_assert_eq!((), a.check());
    debug_assert!(a.n_states() <= automaton.n_states().max(1), "nothing that is reduced grows");
    debug_assert!(accept_the_same(automaton, &a), "O1");
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

    /// In each accepting component, all cycles are.
    pub fn is_weak(&self, a: &Automaton) -> bool {
        let inside = inside(a, self);
        let is_one = |c: usize| (0..a.n_marks).all(|m| !has_cycle_without(&inside[c], m));
        (0..self.n()).all(|c| !self.is_accepting(c as u32) || is_one(c))
    }

    pub fn is_inside(&self, from: usize, t: &Transition) -> bool {
        self.of[from] == self.of[t.target.idx()]
    }
}

/// S1
pub(crate) fn prune(a: &mut Automaton) {
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
    let of_component = |(c, inside): (usize, &Vec<(usize, Transition)>)| {
        if sccs.is_accepting(c as u32) { needed_marks(a.n_marks, inside) } else { Vec::new() }
    };
    let needed: Vec<Vec<u32>> = inside(a, &sccs).iter().enumerate().map(of_component).collect();
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
    debug_assert!(!state_based || a.is_state_based(), "marks of a state are those of all its transitions");
}

/// The transitions inside of each component, in the order of their sources.
fn inside(a: &Automaton, sccs: &Sccs) -> Vec<Vec<(usize, Transition)>> {
    let mut inside = vec![Vec::new(); sccs.n()];
    for (s, transitions) in a.states.iter().enumerate().filter(|&(s, _)| sccs.of[s] != u32::MAX) {
        let of_s = transitions.iter().filter(|t| sccs.is_inside(s, t));
        inside[sccs.of[s] as usize].extend(of_s.map(|t| (s, *t)));
    }
    inside
}

/// The marks without which some cycle of an accepting component would count that does not (S3, S4).
fn needed_marks(n_marks: u32, inside: &[(usize, Transition)]) -> Vec<u32> {
    let mut kept: Vec<u32> = (0..n_marks).filter(|&m| has_cycle_without(inside, m)).collect();
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

fn has_cycle_without(inside: &[(usize, Transition)], mark: u32) -> bool {
    let mut members: Vec<usize> = inside.iter().map(|(s, _)| *s).collect();
    members.dedup();
    // A target without a transition of its own inside would not be inside.
    let number = |s: usize| members.binary_search(&s).expect("a member of the component");
    let mut without: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
    for (s, t) in inside.iter().filter(|(_, t)| !t.marks.has(mark)) {
        without[number(*s)].push(number(t.target.idx()));
    }
    let components = Components::new(without.len(), 0..members.len(), |s, n| without[s].get(n).copied());
    let cyclic = |s: usize, to: &usize| components.of[s] == components.of[*to];
    without.iter().enumerate().any(|(s, targets)| targets.iter().any(|to| cyclic(s, to)))
}

/// S6
fn twins(a: &mut Automaton) {
    // A simulation may leave states that nothing leads to any more.
    a.restrict(|_| true);
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
    debug_assert!(stands_for.iter().all(|s| stands_for[s.idx()] == *s), "who stands for others stands for itself");
    a.restrict(|_| true);
}
