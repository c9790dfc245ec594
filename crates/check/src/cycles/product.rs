//! A system beside an automaton: the runs of the system that the automaton accepts.
//!
//! # The argument
//!   The automaton moves first: it looks at a state and chooses a transition whose guard holds there, then the system takes
//!   a step. So a run of the product is a run of the system together with a run of the automaton that reads its
//!   states, and a mark of the product is the automaton's. Where the automaton has no transition the run is dropped.
//!   A run of the system that ends is continued by staying where it is for ever: the automaton moves alone.
//!   A step that a fault ends leads nowhere; faults are another property's business.
//!
//! # Invariants
//!   I1 a key of the product is the system's key, and behind it the automaton's state in one grain

use super::{Moves, Runs};
use spinor_ltl::{Automaton, PropId, StateId};
use spinor_model::layout::GRAIN;
use spinor_model::successors::{Batch, Step, Successors};

/// See the module. `holds` says whether a proposition is true in a state.
pub struct Product<'a, S, H> {
    system: &'a S,
    automaton: &'a Automaton,
    holds: H,
}

impl<'a, S: Successors, H: Fn(&S::State, PropId) -> bool + Sync> Product<'a, S, H> {
    pub fn new(system: &'a S, automaton: &'a Automaton, holds: H) -> Self {
        Product { system, automaton, holds }
    }

    /// The key of the system's state in a key of the product.
    pub fn system_key(key: &[u8]) -> &[u8] {
        &key[..key.len() - GRAIN] // I1
    }

    /// Which step of the system, and which of its outcomes, a move is; `None` if the system stays.
    pub fn step(&self, key: &[u8], nth: u32) -> Option<(Step, u32)> {
        let mut state = self.system.unpack(Self::system_key(key));
        let (mut steps, mut batch) = (Vec::new(), self.system.batch());
        self.system.enabled(&mut state, &mut steps);
        self.system.fire(&mut state, &steps, &mut batch);
        let there: Vec<_> = batch.outcomes.iter().filter(|o| o.key().is_some()).collect();
        let outcome = there.get((nth as usize).checked_rem(there.len())?)?;
        Some((steps[outcome.step as usize], outcome.path))
    }

    fn bits(&self, state: &S::State) -> Vec<u64> {
        let mut bits = vec![0; self.automaton.props.len().div_ceil(64)];
        for (c, prop) in self.automaton.props.iter().enumerate() {
            bits[c / 64] |= u64::from((self.holds)(state, *prop)) << (c % 64);
        }
        bits
    }
}

fn joined(key: &[u8], at: StateId, out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(key);
    out.extend_from_slice(&at.0.to_le_bytes());
    out.resize(key.len() + GRAIN, 0);
}

impl<S: Successors, H: Fn(&S::State, PropId) -> bool + Sync> Runs for Product<'_, S, H> {
    fn n_marks(&self) -> u32 {
        self.automaton.n_marks
    }

    fn initial(&self, out: &mut Moves) {
        let Ok(state) = self.system.initial() else { return };
        let (mut key, mut both) = (Vec::new(), Vec::new());
        self.system.pack(&state, &mut key);
        for at in &self.automaton.initial {
            joined(&key, *at, &mut both);
            out.push(&both, 0, None);
        }
    }

    /// For each transition of the automaton, in order, all outcomes of the system, in order.
    fn moves(&self, key: &[u8], out: &mut Moves) {
        let (own, at) = key.split_at(key.len() - GRAIN);
        let at = StateId(u32::from_le_bytes(*at.first_chunk().expect("I1")));
        let mut state = self.system.unpack(own);
        let bits = self.bits(&state);
        let (mut steps, mut batch): (Vec<Step>, Batch) = (Vec::new(), self.system.batch());
        self.system.enabled(&mut state, &mut steps);
        self.system.fire(&mut state, &steps, &mut batch);
        steps.iter().for_each(|step| out.able.put(step.pid));
        let mut both = Vec::new();
        for t in self.automaton.enabled(at, &bits) {
            if steps.is_empty() {
                joined(own, t.target, &mut both);
                out.push(&both, t.marks.0, None);
            }
            for outcome in &batch.outcomes {
                if let Some(to) = batch.key(outcome) {
                    joined(to, t.target, &mut both);
                    out.push(&both, t.marks.0, Some(steps[outcome.step as usize].pid));
                }
            }
        }
    }
}
