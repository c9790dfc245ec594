//! Automata on infinite words: transitions with a guard over the propositions and a set of acceptance marks.
//!
//! A run is accepted if it takes, for each of the `n_marks` marks, transitions with that mark infinitely often; with no
//! marks every infinite run is accepted. A word is accepted if some run over it is.
//!
//! # Invariants
//!   I1 no guard is false, and no two transitions of a state have the same target and the same marks
//!   I2 targets and initial states exist; marks are below `n_marks`
//!   I3 a guard is about columns that there are
//!
//! A *state-based* automaton has at most one mark, and a state's transitions all have it or all lack it.

use crate::formula::PropId;
use crate::guards::{Guard, Guards};
use crate::hash::QuickMap;
use crate::lasso::Valuation;

/// A state of an automaton.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StateId(pub u32);

impl StateId {
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A set of acceptance marks, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Marks(pub u64);

impl Marks {
    pub const NONE: Marks = Marks(0);
    pub const MOST: u32 = 64;

    /// Marks `0..n`.
    pub fn all(n: u32) -> Marks {
        assert!(n <= Marks::MOST);
        Marks(if n == 64 { u64::MAX } else { (1 << n) - 1 })
    }

    pub fn has(self, mark: u32) -> bool {
        debug_assert!(mark < Marks::MOST, "a mark is a bit of a word");
        self.0 >> mark & 1 == 1
    }

    pub fn with(self, mark: u32) -> Marks {
        Marks(self.0 | 1 << mark)
    }

    pub fn union(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    pub fn within(self, other: Marks) -> bool {
        self.0 & !other.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..Marks::MOST).filter(move |&m| self.has(m))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Transition {
    pub target: StateId,
    pub marks: Marks,
    pub guard: Guard,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// What the columns of the guards stand for: bit `c` of the valuations given to `Guards::holds` is `props[c]`.
    pub props: Vec<PropId>,
    pub guards: Guards,
    pub initial: Vec<StateId>,
    /// The transitions of each state.
    pub states: Vec<Vec<Transition>>,
    pub n_marks: u32,
}

/// The same can be taken, for some valuation.
fn are_joined(guards: &Guards, before: &[Transition], after: &[Transition]) -> bool {
    let bit = |column: u32| column.wrapping_mul(0x9e37_79b9).wrapping_add(before.len() as u32) >> 5 & 1 == 1;
    let taken = |all: &[Transition]| {
        let taken = all.iter().filter(|t| guards.truth(t.guard, bit)).map(|t| (t.target, t.marks));
        taken.collect::<std::collections::BTreeSet<_>>()
    };
    taken(before) == taken(after)
}

impl Automaton {
    /// Accepts nothing.
    pub fn nothing(props: Vec<PropId>) -> Automaton {
        Automaton { props, guards: Guards::new(), initial: vec![StateId(0)], states: vec![Vec::new()], n_marks: 0 }
    }

    pub fn n_states(&self) -> usize {
        self.states.len()
    }

    pub fn n_transitions(&self) -> usize {
        self.states.iter().map(|t| t.len()).sum()
    }

    pub fn transitions(&self, state: StateId) -> &[Transition] {
        &self.states[state.idx()]
    }

    /// The transitions that can be taken in a state of the system in which bit `c` of `bits` is the truth of
    /// `props[c]`.
    pub fn enabled<'a>(&'a self, state: StateId, bits: &'a [u64]) -> impl Iterator<Item = &'a Transition> {
        self.transitions(state).iter().filter(move |t| self.guards.holds(t.guard, bits))
    }

    /// The valuation in the order of this automaton's columns.
    pub fn bits(&self, valuation: &Valuation) -> Vec<u64> {
        let mut bits = vec![0; self.props.len().div_ceil(64)];
        for (c, &prop) in self.props.iter().enumerate() {
            bits[c / 64] |= (valuation.holds(prop) as u64) << (c % 64);
        }
        bits
    }

    pub fn all_marks(&self) -> Marks {
        Marks::all(self.n_marks)
    }

    /// At most one mark, and it belongs to states: see the module.
    pub fn is_state_based(&self) -> bool {
        self.n_marks <= 1 && self.states.iter().all(|ts| ts.iter().all(|t| t.marks == ts[0].marks))
    }

    /// In a state-based automaton: is the state accepting?
    pub fn is_accepting(&self, state: StateId) -> bool {
        self.transitions(state).first().is_some_and(|t| t.marks == self.all_marks())
    }

    /// Joins the guards of transitions that agree about the rest (I1) and puts the transitions in order.
    pub(crate) fn join(guards: &mut Guards, transitions: &mut Vec<Transition>) {
        let before = if cfg!(debug_assertions) { transitions.clone() } else { Vec::new() };
        transitions.retain(|t| t.guard != Guard::FALSE);
        transitions.sort_unstable();
        let mut kept = 0;
        let mut first = 0;
        while first < transitions.len() {
            let head = transitions[first];
            let alike = |t: &Transition| t.target == head.target && t.marks == head.marks;
            let n = transitions[first..].iter().take_while(|t| alike(t)).count();
            // In pairs, then pairs of pairs: so the large functions are few.
            let mut width = 1;
            while width < n {
                for at in (first..first + n - width).step_by(2 * width) {
                    transitions[at].guard = guards.or(transitions[at].guard, transitions[at + width].guard);
                }
                width *= 2;
            }
            transitions[kept] = transitions[first];
            kept += 1;
            first += n;
        }
        transitions.truncate(kept);
        debug_assert!(transitions.is_sorted_by(|t, u| (t.target, t.marks) < (u.target, u.marks)), "I1");
        debug_assert!(are_joined(guards, &before, transitions), "what could be taken can be taken, and nothing else");
    }

    /// Only the states for which `keep` says so, renumbered in the order in which they are reached.
    pub(crate) fn restrict(&mut self, keep: impl Fn(StateId) -> bool) {
        let mut numbers: Vec<Option<StateId>> = vec![None; self.n_states()];
        let mut order: Vec<StateId> = Vec::new();
        let visit = |s: StateId, numbers: &mut Vec<Option<StateId>>, order: &mut Vec<StateId>| {
            if keep(s) && numbers[s.idx()].is_none() {
                numbers[s.idx()] = Some(StateId(order.len() as u32));
                order.push(s);
            }
        };
        for &s in &self.initial {
            visit(s, &mut numbers, &mut order);
        }
        let mut next = 0;
        while next < order.len() {
            for t in &self.states[order[next].idx()] {
                visit(t.target, &mut numbers, &mut order);
            }
            next += 1;
        }
        if order.is_empty() {
            *self = Automaton::nothing(std::mem::take(&mut self.props));
            return;
        }
        let mut states = Vec::with_capacity(order.len());
        for &s in &order {
            let mut transitions = std::mem::take(&mut self.states[s.idx()]);
            transitions.retain_mut(|t| match numbers[t.target.idx()] {
                Some(n) => {
                    t.target = n;
                    true
                }
                None => false,
            });
            Automaton::join(&mut self.guards, &mut transitions);
            states.push(transitions);
        }
        self.states = states;
        self.initial = self.initial.iter().filter_map(|s| numbers[s.idx()]).collect();
        self.initial.sort_unstable();
        self.initial.dedup();
        debug_assert!(!self.initial.is_empty(), "what is kept is reached from an initial state");
        debug_assert!(self.states.iter().flatten().all(|t| t.target.idx() < self.n_states()), "I2");
    }

    /// Forgets guards and propositions that no transition uses any more.
    pub(crate) fn compact(&mut self) {
        let mut used: Vec<u32> = Vec::new();
        let mut seen: Vec<Guard> = self.states.iter().flatten().map(|t| t.guard).collect();
        seen.sort_unstable();
        seen.dedup();
        for &g in &seen {
            used.extend(self.guards.columns(g));
            used.sort_unstable();
            used.dedup();
        }
        let mut columns = vec![0; self.props.len()];
        for (new, &old) in used.iter().enumerate() {
            columns[old as usize] = new as u32;
        }
        debug_assert!(used.len() <= self.props.len(), "I3");
        self.props = used.iter().map(|&c| self.props[c as usize]).collect();
        self.move_guards(Guards::new(), &columns);
        debug_assert!(
            self.states.iter().flatten().all(|t| self
                .guards
                .columns(t.guard)
                .iter()
                .all(|c| (*c as usize) < used.len())),
            "I3"
        );
    }

    /// All guards go to another pool, column `c` to column `columns[c]`.
    pub(crate) fn move_guards(&mut self, mut to: Guards, columns: &[u32]) {
        let mut done = QuickMap::default();
        for t in self.states.iter_mut().flatten() {
            let guard = to.import(&self.guards, t.guard, columns, &mut done);
            debug_assert!(to.is_image(guard, &self.guards, t.guard, columns), "a guard says the same of other columns");
            t.guard = guard;
        }
        self.guards = to;
    }

    /// Panics if an invariant is broken.
    pub(crate) fn check(&self) {
        let exists = |s: StateId| s.idx() < self.n_states();
        assert!(self.initial.iter().all(|&s| exists(s)), "I2");
        let n_columns = self.props.len();
        for transitions in &self.states {
            for (n, t) in transitions.iter().enumerate() {
                assert!(exists(t.target) && t.marks.within(self.all_marks()), "I2");
                assert!(t.guard != Guard::FALSE, "I1");
                assert!(self.guards.columns(t.guard).iter().all(|c| (*c as usize) < n_columns), "I3");
                let twin = |u: &Transition| u.target == t.target && u.marks == t.marks;
                // Joined transitions are sorted, so twins would be neighbours.
                assert!(!transitions.get(n + 1).is_some_and(twin), "I1");
            }
        }
    }
}
