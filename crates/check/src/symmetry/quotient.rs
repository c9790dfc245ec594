//! A system of which one state of each orbit is seen, alone or beside a claim.
//!
//! Source  [Bosnacki-SYM] figure 2, with nested search up to the seed; other searches by the argument.
//! Fits    every search of states, components and nested searches; no reduction.
//!
//! # The argument
//!   What is seen is one image of every state that a step leads to (`canon`). The steps of a state are its own, so a search
//!   may ask for them, and a run of the quotient is a run of the system with names exchanged at every step; `unfold`
//!   undoes that.
//!   If two processes can change places while a state remains, the steps of one are images of those of the other, and lead to
//!   what the same state stands for: who expands the state alone need not see the steps of the second. Whoever asks which
//!   steps there are, or whose, is told all.
//!   A claim that looks at nothing that tells members of a class apart reads the same in all images.
//!
//! # Invariants
//!   I1 a key that is seen is one that was picked, and picked again it remains (`canon`, I1)
//!   I2 of the steps of a state none is left out where one of them goes wrong
//!   I3 what is left out leads where something leads that is kept
//!   I4 an image of a state has the images of its steps and of its faults; beside a claim, of its moves, with their marks
//!
//! # Owed
//!   O1 verdicts = those of the whole system           tests/symmetry.rs: random symmetric models, the corpus
//!   O2 only doubles are left out, and no fault is     tests/symmetry.rs: `only_doubles_are_left_out`
//!   O3 what is refused below                          tests/symmetry.rs: `symmetry_and_reduction_are_not_combined`
//!
//! # Cost  a choice (`canon`) for each successor; segmented, also a look at the state for doubles.
//!
//! # Why not with reduction
//!   A selection of steps (`reduce`) that is made in the state that is seen can be carried to its images. It is then the same
//!   up to names for all images, and what is asked of a selection in one state is true in each. But that no step is left
//!   out for ever is seen to by closing the loops of *some* processes (`reduce/rounds`), by number: others go round only if
//!   these do. In the quotient a process changes its number on the way. It can go round for ever and bear, whenever
//!   it closes its loop, the number of one whose loops need not be closed; so a cycle may leave out a step for
//!   ever. Loops would have to be closed for all of a class or for none. With fairness more is missing: which processes
//!   can move is asked of steps left out, under names that the next state does not have. So it is refused (`plan`).

use super::canon::{Canon, Perm, Scratch};
use super::threads::{self, Permuted};
use crate::cycles::product::Product;
use crate::cycles::{Fairness, Moves, Part, Pids, Runs};
use crate::search::order;
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::ir::Pid;
use spinor_model::layout::GRAIN;
use spinor_model::successors::{Batch, Outcome, Step, Successors};
use spinor_store::{Full, Hint, StateId, Visited};
use std::sync::Arc;

/// The system.
pub struct Quotient<S> {
    pub system: Arc<S>,
    pub canon: Arc<Canon>,
}

#[derive(Clone)]
pub struct QuotientState<S> {
    state: S,
    scratch: Scratch,
    key: Vec<u8>,
    owners: Vec<Pid>,
}

impl<S> QuotientState<S> {
    fn new(state: S, scratch: Scratch) -> Self {
        QuotientState { state, scratch, key: Vec::new(), owners: Vec::new() }
    }
}

impl<S: Successors> Quotient<S> {
    /// A hint for keys as long as this one. Where a walk goes is chosen among the steps as they are, so only what it
    /// comes to is picked.
    pub fn learn(&self, key: &[u8]) -> Hint {
        let mut scratch = Scratch::default();
        order::learn_picked(&*self.system, key, &mut |key| self.canon.pick(key, &mut scratch))
    }

    /// I4, of the steps.
    fn check_image(&self, key: &[u8]) -> bool {
        let (perm, mut scratch) = (self.canon.exchange(), Scratch::default());
        let image = self.canon.image(key, &perm, &mut scratch);
        if image == key {
            return true; // or not all are there
        }
        let mut after = |from: &[u8], perm: &[Pid]| {
            let mut batch = self.system.batch();
            let n = self.system.expand(&mut self.system.unpack(from), &mut batch);
            let to = |o: &Outcome| batch.key(o).map(|key| self.canon.image(key, perm, &mut scratch));
            let mut keys: Vec<Option<Vec<u8>>> = batch.outcomes.iter().map(to).collect();
            keys.sort_unstable();
            (n, keys, batch.faults.len())
        };
        after(key, &perm) == after(&image, &self.canon.identity())
    }

    /// I3. `all` are the outcomes before some were left out.
    fn check_kept(&self, all: &[Outcome], batch: &Batch, from: usize) -> bool {
        let mut scratch = Scratch::default();
        let mut gave_up = false;
        let mut picked = |o: &Outcome| {
            let mut key = batch.key(o).map(<[u8]>::to_vec)?;
            self.canon.pick(&mut key, &mut scratch);
            gave_up |= Canon::gave_up(&scratch);
            Some(key)
        };
        let kept: Vec<_> = batch.outcomes[from..].iter().map(&mut picked).collect();
        let is_there = all.iter().all(|o| kept.contains(&picked(o)));
        is_there || gave_up
    }

    fn pick(&self, batch: &mut Batch, from: usize, scratch: &mut Scratch) {
        debug_assert!(from <= batch.outcomes.len(), "what was there before stays");
        for n in from..batch.outcomes.len() {
            if let Some(range) = batch.outcomes[n].key() {
                self.canon.pick(&mut batch.keys[range], scratch);
            }
        }
    }
}

/// One state in so many is looked at closely, where that is done at all.
fn is_sample(key: &[u8]) -> bool {
    cfg!(debug_assertions) && key.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)).is_multiple_of(16)
}

/// Forgets the outcomes from one on that are images of others; where something went wrong, none.
fn drop_doubles(batch: &mut Batch, from: usize, owners: &[Pid], scratch: &Scratch) {
    if batch.faults.last().is_some_and(|(n, _)| *n >= from) {
        return;
    }
    let mut kept = from;
    debug_assert!(batch.outcomes[from..].iter().all(|o| o.key().is_some()), "I2");
    for n in from..batch.outcomes.len() {
        let outcome = batch.outcomes[n];
        if !Canon::is_double(scratch, owners[outcome.step as usize]) {
            batch.outcomes[kept] = outcome;
            kept += 1;
        }
    }
    debug_assert!(kept > from || batch.outcomes.len() == from, "of images one is kept");
    batch.outcomes.truncate(kept);
    debug_assert!(batch.faults.iter().all(|(n, _)| *n < from), "I2");
}

impl<S: Successors + Send> Successors for Quotient<S> {
    type State = QuotientState<S::State>;

    fn initial(&self) -> Result<Self::State, Fault> {
        let state = self.system.initial()?;
        let (mut key, mut scratch) = (Vec::new(), Scratch::default());
        self.system.pack(&state, &mut key);
        self.canon.pick(&mut key, &mut scratch);
        Ok(QuotientState::new(self.system.unpack(&key), scratch))
    }

    fn pack(&self, state: &Self::State, key: &mut Vec<u8>) {
        self.system.pack(&state.state, key);
    }

    fn unpack(&self, key: &[u8]) -> Self::State {
        QuotientState::new(self.system.unpack(key), Scratch::default())
    }

    fn unpack_into(&self, key: &[u8], state: &mut Self::State) {
        self.system.unpack_into(key, &mut state.state);
    }

    fn batch(&self) -> Batch {
        self.system.batch()
    }

    fn enabled(&self, state: &mut Self::State, steps: &mut Vec<Step>) {
        self.system.enabled(&mut state.state, steps);
    }

    fn fire(&self, state: &mut Self::State, steps: &[Step], batch: &mut Batch) {
        let from = batch.outcomes.len();
        self.system.fire(&mut state.state, steps, batch);
        self.pick(batch, from, &mut state.scratch);
    }

    fn expand(&self, state: &mut Self::State, batch: &mut Batch) -> usize {
        let from = batch.outcomes.len();
        let QuotientState { state, scratch, key, owners } = state;
        key.clear();
        self.system.pack(state, key);
        debug_assert!(self.canon.stands(key), "I1");
        debug_assert!(!is_sample(key) || self.check_image(key), "I4");
        let n = if self.canon.doubles(key, scratch) {
            let n = self.system.expand_owned(state, batch, owners);
            debug_assert!(owners.len() >= n, "each step is somebody's");
            let all = is_sample(key).then(|| batch.outcomes[from..].to_vec());
            drop_doubles(batch, from, owners, scratch);
            debug_assert!(all.is_none_or(|all| self.check_kept(&all, batch, from)), "I3");
            n
        } else {
            self.system.expand(state, batch)
        };
        self.pick(batch, from, scratch);
        n
    }

    fn expand_owned(&self, state: &mut Self::State, batch: &mut Batch, owners: &mut Vec<Pid>) -> usize {
        let from = batch.outcomes.len();
        let n = self.system.expand_owned(&mut state.state, batch, owners);
        self.pick(batch, from, &mut state.scratch);
        n
    }

    fn heed(&self, state: &mut Self::State, assertions: bool, promises: bool) {
        self.system.heed(&mut state.state, assertions, promises);
    }

    fn look(&self, state: &mut Self::State, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        self.system.look(&mut state.state, bits)
    }

    fn may_end(&self, state: &Self::State) -> bool {
        self.system.may_end(&state.state)
    }
}

/// The system beside a claim.
pub struct QuotientRuns<'a, S: Successors> {
    pub product: Product<'a, S>,
    pub canon: &'a Canon,
    pub fairness: Fairness,
}

pub struct Desk<S: Successors> {
    inner: crate::cycles::product::Desk<S>,
    scratch: Scratch,
}

impl<S: Successors> Permuted for QuotientRuns<'_, S> {
    fn initial_raw(&self, desk: &mut Desk<S>, out: &mut Moves) {
        self.product.initial(&mut desk.inner, out);
    }

    fn moves_raw(&self, desk: &mut Desk<S>, key: &[u8], out: &mut Moves) {
        self.product.moves(&mut desk.inner, key, out);
    }

    fn pick(&self, desk: &mut Desk<S>, key: &mut [u8]) -> Perm {
        let n = key.len() - GRAIN;
        self.canon.pick(&mut key[..n], &mut desk.scratch);
        Canon::picked(&desk.scratch).clone()
    }
}

impl<S: Successors> Runs for QuotientRuns<'_, S> {
    type Desk = Desk<S>;

    fn desk(&self) -> Desk<S> {
        Desk { inner: self.product.desk(), scratch: Scratch::default() }
    }

    fn n_marks(&self) -> u32 {
        self.product.n_marks()
    }

    fn initial(&self, desk: &mut Desk<S>, out: &mut Moves) {
        let from = out.all.len();
        self.product.initial(&mut desk.inner, out);
        self.pick_all(desk, out, from);
    }

    fn part(&self, key: &[u8]) -> Part {
        self.product.part(key)
    }

    fn moves(&self, desk: &mut Desk<S>, key: &[u8], out: &mut Moves) {
        debug_assert!(self.canon.stands(&key[..key.len() - GRAIN]), "I1");
        debug_assert!(!is_sample(key) || self.check_image(key), "I4");
        let from = out.all.len();
        self.product.moves(&mut desk.inner, key, out);
        self.pick_all(desk, out, from);
    }

    fn judges(&self) -> bool {
        self.fairness != Fairness::None
    }

    fn judge<'s, V: Visited>(
        &self,
        desk: &mut Desk<S>,
        store: &'s V,
        hand: &mut V::Hand<'s>,
        states: &[StateId],
    ) -> Result<Option<threads::Run>, Full> {
        assert!(self.judges(), "without fairness nobody is asked who moves");
        threads::judge(self, desk, store, hand, states, self.fairness)
    }
}

impl<S: Successors> QuotientRuns<'_, S> {
    /// I4, of the moves.
    fn check_image(&self, key: &[u8]) -> bool {
        let (perm, mut scratch, mut desk) = (self.canon.exchange(), Scratch::default(), self.product.desk());
        let mut image = |key: &[u8], perm: &[Pid]| {
            let (own, at) = key.split_at(key.len() - GRAIN);
            [&self.canon.image(own, perm, &mut scratch)[..], at].concat()
        };
        let there = image(key, &perm);
        if there == key {
            return true; // or not all are there
        }
        let mut after = |from: &[u8], perm: &[Pid]| {
            let mut moves = Moves::default();
            self.product.moves(&mut desk, from, &mut moves);
            let seat = |pid: Pid| perm.get(usize::from(pid)).copied().unwrap_or(pid);
            let able = moves.able.iter().fold(Pids::default(), |able, pid| able.union(Pids::of(Some(seat(pid)))));
            let to = |n: usize| (image(moves.key(n), perm), moves.all[n].marks, moves.all[n].pid.map(seat));
            let mut all: Vec<_> = (0..moves.all.len()).map(to).collect();
            all.sort_unstable();
            // Of the outcomes before the one that ends the matter there may be others.
            if moves.ends.is_some() { (Vec::new(), able, true) } else { (all, able, false) }
        };
        after(key, &perm) == after(&there, &self.canon.identity())
    }

    fn pick_all(&self, desk: &mut Desk<S>, out: &mut Moves, from: usize) {
        let Moves { keys, all, .. } = out;
        for m in &all[from..] {
            self.canon.pick(&mut keys[m.to.start..m.to.end - GRAIN], &mut desk.scratch);
        }
    }
}
