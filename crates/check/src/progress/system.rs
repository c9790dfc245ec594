//! A system as ground for the searches for cycles without progress.
//!
//! # The argument
//!   `expand` is the one place where steps are asked for and fired. The executor may leave some of them out
//!   (`reduce/still.rs`): it does so by the state alone, so that whoever asks for a part of the moves of a state, and later
//!   for the other part, gets all that were selected.
//!   Where it is states that make progress, which steps there are does not matter, and the executor does both at once.

use super::meaning::{Meaning, Progress};
use super::{Ground, Out, Which};
use crate::reduce::commute::{self, Commute, Name, Sleep};
use spinor_model::interp::Interp;
use spinor_model::ir::Pid;
use spinor_model::state::State;
use spinor_model::successors::{Asleep, Step, Successors};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The executor must look at `Meaning::still`, and nothing else; `interp` is of the same system.
pub struct Grounds<'a, S> {
    pub exec: &'a S,
    pub interp: &'a Interp,
    pub meaning: &'a Meaning,
    faulty: AtomicBool,
    /// Only if all steps are taken.
    commute: Option<Commute>,
}

pub struct Desk<S: Successors> {
    state: Option<S::State>,
    /// The state has no step that makes progress.
    still: bool,
    bits: Vec<u64>,
    key: Vec<u8>,
    steps: Vec<Step>,
    commutes: commute::Desk,
    /// Of the steps.
    names: Vec<Name>,
}

impl<'a, S: Successors> Grounds<'a, S> {
    pub fn new(exec: &'a S, interp: &'a Interp, meaning: &'a Meaning) -> Self {
        Grounds { exec, interp, meaning, faulty: AtomicBool::new(false), commute: None }
    }

    /// The same, with names for moves (`Meaning::commute`). The executor leaves out none.
    pub fn sleeping(self, commute: Option<Commute>) -> Self {
        Grounds { commute, ..self }
    }

    /// Some run was ended by a fault.
    pub fn is_faulty(&self) -> bool {
        self.faulty.load(Relaxed)
    }

    /// All outcomes of the state at the desk, behind what the batch has; whether steps are known.
    fn expand(&self, desk: &mut Desk<S>, out: &mut Out) -> bool {
        let Desk { state, still, steps, .. } = desk;
        let state = state.as_mut().expect("a state is brought first");
        if self.meaning.progress == Progress::States || *still {
            self.exec.expand(state, &mut out.batch);
            return false;
        }
        self.exec.enabled(state, steps);
        self.exec.fire(state, steps, &mut out.batch);
        true
    }

    /// The moves of a state: step, outcome, and whether it makes progress.
    pub fn each(&self, key: &[u8], found: &mut impl FnMut(Step, u32, bool, &[u8])) {
        let mut state = self.exec.unpack(key);
        let (mut steps, mut batch) = (Vec::new(), self.exec.batch());
        self.exec.enabled(&mut state, &mut steps);
        self.exec.fire(&mut state, &steps, &mut batch);
        let before = self.interp.unpack(key);
        for outcome in &batch.outcomes {
            if let Some(to) = batch.key(outcome) {
                let step = steps[outcome.step as usize];
                let made = self.by_steps() && self.made(key, &before, step, outcome.path);
                found(step, outcome.path, made, to);
            }
        }
    }

    /// By the meaning, process by process or step by step. Who has a step that may make progress need not have one that does.
    fn is_still_as_meant(&self, still: bool, key: &[u8]) -> bool {
        if self.by_steps() {
            let mut any = false;
            if still {
                self.each(key, &mut |_, _, made, _| any |= made);
            }
            return !any;
        }
        let state = self.interp.unpack(key);
        let counts = |pid: Pid| self.meaning.counts(pid, state.proctype(pid), state.loc(pid));
        still != (0..state.n_procs() as Pid).any(counts)
    }

    /// Whether a move makes progress: a leap does if one of its steps does, and no more than one does (`reduce/still.rs`).
    fn made(&self, key: &[u8], state: &State, step: Step, path: u32) -> bool {
        if step.partner.is_none_or(|(pid, _)| pid != step.pid) {
            return self.meaning.made(self.interp, state, step, path);
        }
        let (mut at, mut made) = (key.to_vec(), false);
        for (step, path) in self.exec.steps_of(key, step, path) {
            let mut state = self.interp.unpack(&at);
            let makes = self.meaning.made(self.interp, &state, step, path);
            made |= makes;
            let mut batch = self.interp.batch();
            self.interp.fire(&mut state, &[step], &mut batch);
            let after = batch.outcomes.iter().find(|o| o.path == path).and_then(|o| batch.key(o));
            at = after.expect("a leap leads somewhere").to_vec();
        }
        made
    }
}

/// In debug builds one of so many states is looked at once more.
pub(super) fn is_some(key: &[u8]) -> bool {
    key.iter().fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte)).is_multiple_of(16)
}

impl<S: Successors> Ground for Grounds<'_, S> {
    type Desk = Desk<S>;

    fn desk(&self) -> Desk<S> {
        let (bits, key, steps) = (Vec::new(), Vec::new(), Vec::new());
        let (commutes, names) = (commute::Desk::default(), Vec::new());
        Desk { state: None, still: true, bits, key, steps, commutes, names }
    }

    fn out(&self) -> Out {
        Out { batch: self.exec.batch(), ..Out::default() }
    }

    fn by_steps(&self) -> bool {
        self.meaning.progress == Progress::Steps
    }

    fn initial(&self, _: &mut Desk<S>, key: &mut Vec<u8>) -> bool {
        match self.exec.initial() {
            Ok(state) => {
                self.exec.pack(&state, key);
                true
            }
            Err(_) => {
                self.faulty.store(true, Relaxed);
                false
            }
        }
    }

    #[inline]
    fn bring(&self, desk: &mut Desk<S>, key: &[u8]) -> bool {
        let state = match &mut desk.state {
            Some(state) => {
                self.exec.unpack_into(key, state);
                state
            }
            none => {
                let state = none.insert(self.exec.unpack(key));
                self.exec.heed(state, false, false);
                state
            }
        };
        let looked = self.exec.look(state, &mut desk.bits);
        looked.expect("whether a process stands at a label can always be said");
        debug_assert_eq!(desk.bits.len(), 1, "the executor looks at one thing");
        desk.still = desk.bits.first().is_some_and(|bits| bits & 1 == 1);
        debug_assert!(
            !is_some(key) || self.is_still_as_meant(desk.still, key),
            "what is looked at is what makes progress"
        );
        if self.by_steps() && !desk.still || self.knows_sleep() {
            desk.key.clear();
            desk.key.extend_from_slice(key);
        }
        !self.by_steps() && !desk.still
    }

    #[inline]
    fn moves(&self, desk: &mut Desk<S>, which: Which, out: &mut Out) {
        out.more = false;
        let nothing = which == Which::Progress && (desk.still || !self.by_steps());
        if nothing {
            return;
        }
        debug_assert!(which != Which::All || out.made.len() == out.keys.len(), "who wants all is told of each");
        let from = out.batch.outcomes.len();
        let known = self.expand(desk, out);
        let state = known.then(|| self.interp.unpack(&desk.key));
        for n in from..out.batch.outcomes.len() {
            let outcome = out.batch.outcomes[n];
            let Some(key) = outcome.key() else {
                self.faulty.store(true, Relaxed);
                continue;
            };
            let made = state
                .as_ref()
                .is_some_and(|state| self.made(&desk.key, state, desk.steps[outcome.step as usize], outcome.path));
            debug_assert!(!made || self.by_steps() && !desk.still, "who is still makes no progress");
            out.more |= made;
            if which == Which::All || made == (which == Which::Progress) {
                out.keys.push(key);
                if which == Which::All {
                    out.made.push(made);
                }
            }
        }
    }

    fn knows_sleep(&self) -> bool {
        self.commute.is_some()
    }

    fn awake(&self, desk: &mut Desk<S>, by: Name, sleep: &mut Sleep, out: &mut Out) {
        let Some(commute) = &self.commute else {
            sleep.clear();
            return self.moves(desk, Which::Still, out);
        };
        let Desk { state, key, steps, commutes, names, .. } = desk;
        commute.bring(commutes, key, by, sleep);
        let Some(firsts) = commute.firsts(commutes) else { return self.moves(desk, Which::Still, out) };
        let state = state.as_mut().expect("a state is brought first");
        debug_assert!(self.meaning.progress == Progress::States, "names are known where states make progress");
        self.exec.expand_awake(state, Asleep { firsts, set: &sleep.set }, steps, &mut out.batch);
        names.clear();
        names.extend(steps.iter().map(|step| commute.name(commutes, step)));
        let n_steps = names.len();
        out.n_asleep = sleep.retain(names);
        debug_assert!(out.n_asleep <= n_steps as u64 && names.len() == n_steps, "a name for each step, asleep or not");
        debug_assert!(out.batch.outcomes.is_sorted_by_key(|o| o.step), "the outcomes of a step stand together");
        let mut last = None;
        for outcome in &out.batch.outcomes {
            // A step with several outcomes does not sleep, whichever of them a fault ends.
            let alone = last.replace(outcome.step) != Some(outcome.step);
            if !alone && let Some(name) = out.names.last_mut() {
                *name = name.awake();
            }
            let Some(key) = outcome.key() else {
                self.faulty.store(true, Relaxed);
                continue;
            };
            debug_assert_eq!(out.names.len(), out.keys.len(), "a name for each move");
            out.keys.push(key);
            let name = names[outcome.step as usize];
            out.names.push(if alone { name } else { name.awake() });
        }
    }
}
