//! A system beside a claim: the runs of the system that the claim's automaton accepts.
//!
//! # The argument
//!   The automaton moves first: it looks at a state and chooses a transition whose guard holds there, then the system takes
//!   a step. So a run of the product is a run of the system together with a run of the automaton that reads its
//!   states, and a mark of the product is the automaton's. Where the automaton has no transition the run is dropped.
//!   A run of the system that ends is continued by staying where it is for ever, if the claim wants it so: the automaton
//!   moves alone. A step that a fault ends leads nowhere; faults are another property's business.
//!   A transition to a state of the automaton that settles the matter ends it, whatever the system does next.
//!
//! # Invariants
//!   I1 a key of the product is the system's key, and behind it the automaton's state in one grain

use super::{Fairness, Moves, Runs};
use crate::claim::Claim;
use spinor_ltl::StateId;
use spinor_model::layout::GRAIN;
use spinor_model::successors::{Batch, Step, Successors};

/// See the module. The system must have been made to look at the claim's propositions.
pub struct Product<'a, S> {
    system: &'a S,
    claim: &'a Claim,
    /// Fairness matters, so moves have owners.
    owned: bool,
}

/// One thread's.
pub struct Desk<S: Successors> {
    state: Option<S::State>,
    steps: Vec<Step>,
    batch: Batch,
    bits: Vec<u64>,
}

impl<'a, S: Successors> Product<'a, S> {
    pub fn new(system: &'a S, claim: &'a Claim, fairness: Fairness) -> Self {
        Product { system, claim, owned: fairness != Fairness::None }
    }

    /// The key of the system's state, and the automaton's state, in a key of the product.
    pub fn split(key: &[u8]) -> (&[u8], StateId) {
        let (own, at) = key.split_at(key.len() - GRAIN); // I1
        (own, StateId(u32::from_le_bytes(*at.first_chunk().expect("I1"))))
    }

    /// Which step of the system, and which of its outcomes, a move is; `None` if the system stays.
    pub fn step(&self, key: &[u8], nth: u32) -> Option<(Step, u32)> {
        let mut state = self.system.unpack(Self::split(key).0);
        let (mut steps, mut batch) = (Vec::new(), self.system.batch());
        self.system.enabled(&mut state, &mut steps);
        self.system.fire(&mut state, &steps, &mut batch);
        let there: Vec<_> = batch.outcomes.iter().filter(|o| o.key().is_some()).collect();
        let outcome = there.get((nth as usize).checked_rem(there.len())?)?;
        Some((steps[outcome.step as usize], outcome.path))
    }
}

fn push(own: &[u8], at: StateId, out: &mut Moves, marks: u64, pid: Option<spinor_model::ir::Pid>) {
    let from = out.keys.len();
    out.keys.extend_from_slice(own);
    out.keys.extend_from_slice(&at.0.to_le_bytes());
    out.keys.resize(from + own.len() + GRAIN, 0); // I1
    out.all.push(super::Move { to: from..out.keys.len(), marks, pid });
}

impl<S: Successors> Runs for Product<'_, S> {
    type Desk = Desk<S>;

    fn desk(&self) -> Desk<S> {
        Desk { state: None, steps: Vec::new(), batch: self.system.batch(), bits: Vec::new() }
    }

    fn n_marks(&self) -> u32 {
        self.claim.automaton.n_marks
    }

    fn initial(&self, _: &mut Desk<S>, out: &mut Moves) {
        let Ok(state) = self.system.initial() else { return };
        let mut key = Vec::new();
        self.system.pack(&state, &mut key);
        for at in &self.claim.automaton.initial {
            push(&key, *at, out, 0, None);
        }
    }

    /// For each transition of the automaton, in order, all outcomes of the system, in order. A transition that ends the
    /// matter is the last one, and one move: the system need not do anything more.
    fn moves(&self, desk: &mut Desk<S>, key: &[u8], out: &mut Moves) {
        let (own, at) = Self::split(key);
        let Desk { state, steps, batch, bits } = desk;
        let state = match state {
            Some(state) => {
                self.system.unpack_into(own, state);
                state
            }
            none => {
                let state = none.insert(self.system.unpack(own));
                self.system.heed(state, false, false);
                state
            }
        };
        if self.system.look(state, bits).is_err() {
            out.blind = true;
            return;
        }
        let automaton = &self.claim.automaton;
        // One that blocks the automaton needs no steps.
        let mut enabled = automaton.enabled(at, bits).peekable();
        if enabled.peek().is_none() && !self.owned {
            return;
        }
        batch.clear();
        let n_steps = if self.owned {
            self.system.enabled(state, steps);
            self.system.fire(state, steps, batch);
            steps.iter().for_each(|step| out.able.put(step.pid));
            steps.len()
        } else {
            self.system.expand(state, batch)
        };
        for t in enabled {
            if self.claim.settles(t.target) {
                out.ends = Some(out.all.len() as u32);
                push(own, t.target, out, t.marks.0, None);
                return;
            }
            if n_steps == 0 && self.claim.stutters {
                push(own, t.target, out, t.marks.0, None);
            }
            for outcome in &batch.outcomes {
                if let Some(to) = batch.key(outcome) {
                    let pid = self.owned.then(|| steps[outcome.step as usize].pid);
                    push(to, t.target, out, t.marks.0, pid);
                }
            }
        }
    }
}
