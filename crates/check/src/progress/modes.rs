//! Steps that make progress, for the searches for accepted runs.
//!
//! # The argument
//!   A state comes in two modes. In the first, everything can happen, and any step without progress may lead over to the
//!   second; there, only steps without progress can happen, and all are marked. A run that is accepted stays in the
//!   second mode from some point on: it makes no progress from there, and each such run of the system is one.
//!   That is the product with the automaton for "from some point on, without progress" (`Claim::without_progress`),
//!   whose automaton can read states only. Who is able to move in the second mode is who is able to in the system, so
//!   fairness means the same.
//!   A run that ends is none: nothing is added to it.
//!
//! # Invariants
//!   I1 a key is the system's, and behind it the mode in one grain
//!
//! # Cost  two states for each of the system, and each step up to three times.

use super::meaning::Meaning;
use super::system::is_some;
use crate::cycles::{Moves, Part, Pids, Runs};
use spinor_model::interp::Interp;
use spinor_model::layout::GRAIN;
use spinor_model::successors::{Batch, Outcome, Step, Successors};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// `interp` is of the system that `exec` runs.
pub struct Modes<'a, S> {
    exec: &'a S,
    interp: &'a Interp,
    meaning: &'a Meaning,
    faulty: AtomicBool,
}

pub struct Desk<S: Successors> {
    state: Option<S::State>,
    steps: Vec<Step>,
    bits: Vec<u64>,
    batch: Batch,
}

impl<'a, S: Successors> Modes<'a, S> {
    pub fn new(exec: &'a S, interp: &'a Interp, meaning: &'a Meaning) -> Self {
        Modes { exec, interp, meaning, faulty: AtomicBool::new(false) }
    }

    pub fn is_faulty(&self) -> bool {
        self.faulty.load(Relaxed)
    }

    /// Which step and which of its outcomes a move is.
    pub fn step(&self, key: &[u8], nth: u32) -> (Step, u32) {
        let mut found = Vec::new();
        let (mut desk, mut moves) = (self.desk(), Moves::default());
        self.fill(&mut desk, key, &mut moves, Some(&mut found));
        found[nth as usize]
    }

    /// None of the steps of a state makes progress.
    fn makes_none(&self, key: &[u8], steps: &[Step], batch: &Batch) -> bool {
        let state = self.interp.unpack(key);
        let goes_on = |outcome: &&Outcome| outcome.key().is_some();
        let made = |o: &Outcome| self.meaning.walked(self.interp, &state, steps[o.step as usize], o.path);
        !batch.outcomes.iter().filter(goes_on).any(made)
    }

    /// The moves of a state, and, if somebody wants to know, what they are.
    fn fill(&self, desk: &mut Desk<S>, key: &[u8], out: &mut Moves, mut told: Option<&mut Vec<(Step, u32)>>) {
        let (own, mode) = key.split_at(key.len() - GRAIN);
        debug_assert!(mode[0] < 2 && mode[1..].iter().all(|byte| *byte == 0), "I1");
        let Desk { state, steps, bits, batch } = desk;
        let state = match state {
            Some(state) => {
                self.exec.unpack_into(own, state);
                state
            }
            none => {
                let state = none.insert(self.exec.unpack(own));
                self.exec.heed(state, false, false);
                state
            }
        };
        let looked = self.exec.look(state, bits);
        looked.expect("whether a process stands at a label can always be said");
        let still = bits.first().is_some_and(|bits| bits & 1 == 1);
        self.exec.enabled(state, steps);
        batch.clear();
        self.exec.fire(state, steps, batch);
        steps.iter().for_each(|step| out.able.put(step.pid));
        debug_assert!(!still || !is_some(own) || self.makes_none(own, steps, batch), "who is still makes no progress");
        let unpacked = (!still).then(|| self.interp.unpack(own));
        for outcome in &batch.outcomes {
            let Some(to) = batch.key(outcome) else {
                self.faulty.store(true, Relaxed);
                continue;
            };
            let step = steps[outcome.step as usize];
            let made = |state| self.meaning.made(self.interp, state, step, outcome.path);
            let made = unpacked.as_ref().is_some_and(made);
            let mut go = |mode: u8, marks: u64| {
                let mut key = to.to_vec();
                key.extend([mode].into_iter().chain([0; GRAIN - 1]));
                out.push(&key, marks, Some(step.pid));
                told.iter_mut().for_each(|told| told.push((step, outcome.path)));
            };
            if mode[0] == 0 {
                go(0, 0);
            }
            if !made {
                go(1, u64::from(mode[0]));
            }
        }
        debug_assert!(told.is_none_or(|told| told.len() == out.all.len()), "each move is told what it is");
    }
}

impl<S: Successors> Runs for Modes<'_, S> {
    type Desk = Desk<S>;

    fn desk(&self) -> Desk<S> {
        Desk { state: None, steps: Vec::new(), bits: Vec::new(), batch: self.exec.batch() }
    }

    fn n_marks(&self) -> u32 {
        1
    }

    fn initial(&self, _: &mut Desk<S>, out: &mut Moves) {
        match self.exec.initial() {
            Ok(state) => {
                let mut key = Vec::new();
                self.exec.pack(&state, &mut key);
                key.extend([0; GRAIN]);
                out.push(&key, 0, None);
            }
            Err(_) => self.faulty.store(true, Relaxed),
        }
    }

    fn part(&self, key: &[u8]) -> Part {
        let mode = key[key.len() - GRAIN];
        Part { number: u32::from(mode), barren: mode == 0 }
    }

    fn moves(&self, desk: &mut Desk<S>, key: &[u8], out: &mut Moves) {
        out.able = Pids::default();
        self.fill(desk, key, out, None);
    }
}
