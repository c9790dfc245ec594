//! The system with fewer steps.
//!
//! # The argument
//!   Which steps are enough is said by the `Reduction`; here they are asked for, taken, and made up for where the search
//!   wants all of them after all. What is chosen depends on the state and on what the search says that it looks at, and
//!   on nothing that was chosen before.
//!
//! # Haste
//!   At some locations all that a process can do is a closed set whatever the rest of the state is (`cast`, *safe*): its
//!   steps there disturb nobody and are half of no handshake, and those that cannot be taken wait for nobody else (or
//!   there are none). If such a process has exactly one step, no set is smaller: that step is taken, and the other processes
//!   are not asked what they could do. That is a matter of the state alone, so it is the same whether or not somebody has
//!   asked. Where progress is asked about, the step must have what `still` asks of a selection, too: else the next such
//!   process is tried. Who wants to know all steps after all has them listed then.
//!
//! # Invariants
//!   I1 what is chosen, if it is no leap, is of what is offered, in its order, and something if anything is
//!   I2 what is chosen and what is left out are together what is offered
//!   I3 a step taken in haste is a closed set by itself, as whoever asks everybody finds it
//!   I4 whatever was done with a state it is still the one of its key
//!   I5 where something is left out no fault ends what is chosen
//!   I6 in haste the steps of a process are those that it is offered

use super::leap::{self, Flight, Leaps};
use super::without::Condition;
use super::{Desk, Proviso, Reduction, is_sample};
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::ir::Pid;
use spinor_model::successors::{Batch, Outcome, Step, Successors, Wish};
use std::sync::Arc;

/// A system with fewer steps. Clones share what they learn.
#[derive(Clone)]
pub struct Reduced<S> {
    pub(super) system: Arc<S>,
    pub(super) reduction: Arc<Reduction>,
    pub(super) proviso: Proviso,
    pub(super) hastens: bool,
}

impl<S> Reduced<S> {
    pub fn proviso(&self) -> Proviso {
        self.proviso
    }

    pub fn reduction(&self) -> &Reduction {
        &self.reduction
    }

    /// The same of what runs the same system.
    pub fn of<T>(&self, system: Arc<T>) -> Reduced<T> {
        Reduced { system, reduction: self.reduction.clone(), proviso: self.proviso, hastens: self.hastens }
    }
}

impl<S: Successors> Reduced<S> {
    pub fn new(system: Arc<S>, reduction: Arc<Reduction>, proviso: Proviso) -> Reduced<S> {
        let hastens = reduction.hastens(proviso);
        Reduced { system, reduction, proviso, hastens }
    }
}

/// The part of the steps that must be left out for a reduction to be worth its time.
const WORTH: f64 = 0.15;

/// Walks, and states on each, by which it is judged what a reduction saves.
const WALKS: u64 = 24;
const WALK: usize = 24;

impl<S: Successors + Send> Reduced<S> {
    /// The part of the steps that it saves, if that is worth while. It is not judged if somebody wants it anyway.
    pub fn worth(&self, wanted: bool) -> Option<f64> {
        // One process alone has no one to be left out.
        let saves = match wanted {
            true => 1.0,
            false if self.reduction.interp.system().most_processes() > 1 => self.saves(),
            false => 0.0,
        };
        (saves > WORTH).then_some(saves)
    }

    /// Which part of the steps is left out, on random walks: from 0 to 1.
    fn saves(&self) -> f64 {
        let Ok(initial) = self.initial() else { return 0.0 };
        let mut batch = self.batch();
        let (mut n_offered, mut n_chosen) = (0, 0);
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let (mut state, first) = (initial.clone(), initial.key);
        for _ in 0..WALKS {
            self.unpack_into(&first, &mut state);
            for _ in 0..WALK {
                batch.clear();
                self.expand(&mut state, &mut batch);
                self.list(&mut state);
                n_offered += state.offered.len();
                n_chosen += state.chosen.len();
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let there: Vec<&Outcome> = batch.outcomes.iter().filter(|o| o.key().is_some()).collect();
                let Some(next) = there.get((random % there.len().max(1) as u64) as usize) else { break };
                let key = batch.key(next).unwrap_or(&[]).to_vec();
                self.unpack_into(&key, &mut state);
            }
        }
        debug_assert!(self.reduction.selector.leaps() || n_chosen <= n_offered, "what is saved is a part of it");
        1.0 - n_chosen as f64 / n_offered.max(1) as f64
    }
}

/// A state of a reduced system.
#[derive(Clone)]
pub struct State<T> {
    pub(super) own: T,
    pub(super) key: Vec<u8>,
    /// Not listed yet in haste.
    pub(super) offered: Vec<Step>,
    pub(super) haste: bool,
    pub(super) chosen: Vec<Step>,
    /// Room for what is left out.
    pub(super) rest: Vec<Step>,
    /// The above are those of this key.
    pub(super) ready: bool,
    pub(super) leaps: Leaps,
    pub(super) flight: Flight,
    /// A state between two steps of a leap.
    pub(super) between: Option<T>,
    pub(super) desk: Desk,
    /// To see what the chosen steps lead to.
    pub(super) batch: Option<Batch>,
}

impl<T> State<T> {
    /// In haste it is not known whether there is anything else.
    pub(super) fn leaves_out(&self) -> bool {
        if self.haste {
            return true;
        }
        if self.leaps.is_empty() { self.chosen.len() < self.offered.len() } else { !self.leaps.rest().is_empty() }
    }
}

/// What is left out is made up for after the steps that are taken: each of them must lead somewhere.
pub(super) fn ends_a_run(outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|o| o.key().is_none())
}

impl<S: Successors> Reduced<S> {
    pub(super) fn minds_faults(&self) -> bool {
        self.reduction.without.keeps(Condition::Fault)
    }

    /// I1, once all steps are listed.
    fn check_chosen(&self, state: &State<S::State>) -> bool {
        let State { offered, chosen, leaps, haste, .. } = state;
        let mut rest = offered.iter();
        *haste
            || !leaps.is_empty()
            || chosen.is_empty() == offered.is_empty() && chosen.iter().all(|step| rest.any(|of| of == step))
    }

    /// I3, in some states: all others have to be asked.
    fn check_haste(&self, state: &mut State<S::State>) -> bool {
        let State { own, key, chosen, desk, .. } = state;
        let is_sample = key.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)).is_multiple_of(8);
        if !is_sample || !self.reduction.without.is_nothing() {
            return true;
        }
        let mut offered = Vec::new();
        self.system.enabled(own, &mut offered);
        let of = |step: &&Step| step.pid == chosen[0].pid;
        debug_assert!(offered.iter().filter(of).eq(chosen.iter()), "I6");
        self.reduction.check_haste(desk, self.proviso, key, &offered, chosen)
    }

    /// I4, in some states.
    fn check_own(&self, state: &State<S::State>) -> bool {
        let mut key = Vec::new();
        if is_sample(&state.key, 8) {
            self.system.pack(&state.own, &mut key);
        }
        key.is_empty() || key == state.key
    }

    /// I5, of the outcomes of what is chosen.
    fn check_ends(&self, state: &State<S::State>, outcomes: &[Outcome]) -> bool {
        !state.leaps.is_empty() || !state.leaves_out() || !self.minds_faults() || !ends_a_run(outcomes)
    }

    fn audit(&self, state: &mut State<S::State>) {
        let auditors = &self.reduction.auditors;
        let Some(auditor) = auditors.get(state.desk.phase as usize).or(auditors.first()) else { return };
        self.list(state);
        if !state.leaps.is_empty() {
            state.leaps.sets().for_each(|set| auditor.audit(&state.key, &state.offered, set));
        } else if state.leaves_out() {
            auditor.audit(&state.key, &state.offered, &state.chosen);
        }
    }

    fn select(&self, state: &mut State<S::State>) {
        let State { own, key, offered, haste, chosen, rest, desk, leaps, flight, ready, .. } = state;
        let Reduced { system, reduction, proviso, hastens } = self;
        *ready = true;
        debug_assert!(leaps.is_empty() || reduction.selector.leaps(), "who takes one step at a time has no leaps");
        let fits = desk.fits(key);
        let of = |pid, steps: &mut Vec<Step>| system.enabled_of(own, pid, steps);
        let hastens = *hastens && desk.wish.attempt != Some(0);
        *haste = hastens && fits && reduction.haste(desk, *proviso, key, chosen, of);
        if *haste {
            debug_assert!(self.check_own(state), "I4");
            debug_assert!(self.check_haste(state), "I3");
            return;
        }
        system.enabled(own, offered);
        if !reduction.selector.leaps() {
            reduction.select(desk, *proviso, (key, fits), offered, chosen);
            if hastens && !fits && desk.fits(key) {
                // The same as if the cast had been there before.
                let of = |pid, steps: &mut Vec<Step>| {
                    steps.clear();
                    steps.extend(offered.iter().filter(|step| step.pid == pid && !step.timeout));
                };
                if reduction.haste(desk, *proviso, key, rest, of) {
                    chosen.clone_from(rest);
                }
            }
            return;
        }
        flight.clear();
        self.reduction.disjoint_sets(desk, (key, fits), offered, leaps);
        if leaps.is_empty() {
            chosen.clone_from(offered);
        } else {
            self.call_leaps(leaps, chosen);
        }
    }

    /// Sees to it that the steps are those of the state.
    pub(super) fn ready(&self, state: &mut State<S::State>) {
        if !state.ready {
            self.select(state);
        }
        self.list(state);
    }

    /// Sees to it that all steps are listed.
    pub(super) fn list(&self, state: &mut State<S::State>) {
        if std::mem::take(&mut state.haste) {
            debug_assert!(self.check_own(state), "I4");
            self.system.enabled(&mut state.own, &mut state.offered);
            debug_assert!(self.check_chosen(state), "I1");
        }
    }

    /// Nothing is left out after all.
    fn all(&self, state: &mut State<S::State>) {
        state.leaps.clear();
        state.chosen.clone_from(&state.offered);
    }

    fn fire_chosen(&self, state: &mut State<S::State>, batch: &mut Batch) {
        let (n_outcomes, n_keys, n_faults) = (batch.outcomes.len(), batch.keys.len(), batch.faults.len());
        if state.leaps.is_empty() {
            if state.leaves_out() {
                self.system.fire(&mut state.own, &state.chosen, batch);
            } else {
                // All at once is faster than one by one.
                self.system.expand(&mut state.own, batch);
            }
            let State { desk, key, chosen, .. } = state;
            debug_assert!(self.reduction.check_fired(desk, key, chosen, batch, n_outcomes), "witness I2");
            return;
        }
        let calls = std::mem::take(&mut state.chosen);
        let mut all = calls.iter().enumerate();
        let leapt = all.try_for_each(|(n, step)| {
            let number = leap::number(*step).expect("a leap");
            self.leap(state, number, n as u32, batch)
        });
        state.chosen = calls;
        if leapt.is_err() {
            batch.outcomes.truncate(n_outcomes);
            batch.keys.truncate(n_keys);
            batch.faults.truncate(n_faults);
            self.all(state);
            self.system.fire(&mut state.own, &state.chosen, batch);
        }
    }

    /// Nobody asks which steps there are, so they are not listed.
    fn expand_all(&self, state: &mut State<S::State>, batch: &mut Batch) -> usize {
        (state.ready, state.haste) = (false, false);
        state.offered.clear();
        state.chosen.clear();
        self.system.expand(&mut state.own, batch)
    }

    /// Adds what is left out.
    fn extend_by_rest(&self, state: &State<S::State>, steps: &mut Vec<Step>) {
        let State { offered, chosen, leaps, .. } = state;
        if leaps.is_empty() {
            steps.extend(offered.iter().filter(|s| !chosen.contains(s)));
        } else {
            steps.extend_from_slice(leaps.rest());
        }
    }

    fn state(&self, own: S::State, key: Vec<u8>) -> State<S::State> {
        State {
            own,
            key,
            offered: Vec::new(),
            haste: false,
            chosen: Vec::new(),
            rest: Vec::new(),
            ready: false,
            leaps: Leaps::default(),
            flight: Flight::default(),
            between: None,
            desk: Desk::default(),
            batch: None,
        }
    }
}

impl<S: Successors + Send> Successors for Reduced<S> {
    type State = State<S::State>;

    fn initial(&self) -> Result<Self::State, Fault> {
        let own = self.system.initial()?;
        let mut key = Vec::new();
        self.system.pack(&own, &mut key);
        Ok(self.state(own, key))
    }

    fn pack(&self, state: &Self::State, key: &mut Vec<u8>) {
        key.extend_from_slice(&state.key);
    }

    fn unpack(&self, key: &[u8]) -> Self::State {
        self.state(self.system.unpack(key), key.to_vec())
    }

    fn unpack_into(&self, key: &[u8], state: &mut Self::State) {
        self.system.unpack_into(key, &mut state.own);
        state.key.clear();
        state.key.extend_from_slice(key);
        state.ready = false;
    }

    fn batch(&self) -> Batch {
        self.system.batch()
    }

    fn enabled(&self, state: &mut Self::State, steps: &mut Vec<Step>) {
        self.select(state);
        if !state.leaps.is_empty() {
            if self.minds_faults() && self.is_ended(state) {
                self.all(state);
            }
            self.audit(state);
        } else if state.leaves_out() {
            let mut batch = state.batch.take().unwrap_or_else(|| self.batch());
            batch.clear();
            self.system.fire(&mut state.own, &state.chosen, &mut batch);
            if self.minds_faults() && ends_a_run(&batch.outcomes) {
                self.list(state);
                state.chosen.clone_from(&state.offered);
            }
            debug_assert!(!state.leaves_out() || self.check_ends(state, &batch.outcomes), "I5");
            state.batch = Some(batch);
            self.audit(state);
        }
        debug_assert!(self.check_chosen(state), "I1");
        debug_assert!(self.check_own(state), "I4");
        steps.clone_from(&state.chosen);
    }

    fn fire(&self, state: &mut Self::State, steps: &[Step], batch: &mut Batch) {
        if steps.iter().all(|s| leap::number(*s).is_none()) {
            self.system.fire(&mut state.own, steps, batch);
            return;
        }
        self.ready(state);
        for (n, step) in steps.iter().enumerate() {
            match leap::number(*step) {
                Some(number) => self.leap(state, number, n as u32, batch).expect("no fault ends a leap that is called"),
                None => {
                    let from = batch.outcomes.len();
                    self.system.fire(&mut state.own, &[*step], batch);
                    batch.outcomes[from..].iter_mut().for_each(|o| o.step = n as u32);
                }
            }
        }
    }

    fn expand(&self, state: &mut Self::State, batch: &mut Batch) -> usize {
        if state.desk.wish == Wish::ALL && !self.reduction.selector.leaps() {
            return self.expand_all(state, batch);
        }
        self.select(state);
        let (n_outcomes, n_keys, n_faults) = (batch.outcomes.len(), batch.keys.len(), batch.faults.len());
        self.fire_chosen(state, batch);
        if state.leaps.is_empty()
            && state.leaves_out()
            && self.minds_faults()
            && ends_a_run(&batch.outcomes[n_outcomes..])
        {
            batch.outcomes.truncate(n_outcomes);
            batch.keys.truncate(n_keys);
            batch.faults.truncate(n_faults);
            self.list(state);
            state.chosen.clone_from(&state.offered);
            self.system.fire(&mut state.own, &state.chosen, batch);
        }
        self.audit(state);
        debug_assert!(self.check_own(state), "I4");
        debug_assert!(self.check_ends(state, &batch.outcomes[n_outcomes..]), "I5");
        let numbers = || batch.outcomes[n_outcomes..].iter().map(|outcome| outcome.step as usize);
        debug_assert!(numbers().is_sorted(), "outcomes are in the order of steps");
        debug_assert!(numbers().all(|step| step < state.chosen.len()), "an outcome is one of a chosen step");
        state.chosen.len()
    }

    fn expand_owned(&self, state: &mut Self::State, batch: &mut Batch, owners: &mut Vec<Pid>) -> usize {
        let n = self.expand(state, batch);
        self.ready(state);
        owners.clear();
        owners.extend(state.chosen.iter().map(|step| step.pid));
        owners.extend(state.offered.iter().map(|step| step.pid));
        debug_assert_eq!(n, state.chosen.len(), "those of the chosen steps come first");
        n
    }

    fn wish(&self, state: &mut Self::State, wish: Wish) {
        state.desk.wish = wish;
    }

    fn leaves_out(&self, state: &Self::State) -> bool {
        state.leaves_out()
    }

    /// Of a state that is known to leave out something, so no fault ends what is chosen.
    fn expand_rest(&self, state: &mut Self::State, batch: &mut Batch) {
        self.ready(state);
        let (n_chosen, from) = (state.chosen.len(), batch.outcomes.len());
        let mut rest = std::mem::take(&mut state.rest);
        rest.clear();
        self.extend_by_rest(state, &mut rest);
        debug_assert!(!state.leaps.is_empty() || rest.len() + n_chosen == state.offered.len(), "I2");
        self.system.fire(&mut state.own, &rest, batch);
        state.rest = rest;
        batch.outcomes[from..].iter_mut().for_each(|o| o.step += n_chosen as u32);
    }

    fn all_enabled(&self, state: &mut Self::State, steps: &mut Vec<Step>) {
        self.enabled(state, steps);
        self.list(state);
        self.extend_by_rest(state, steps);
        let is_each = |step: &Step| steps.iter().filter(|other| *other == step).count() == 1;
        debug_assert!(!state.leaps.is_empty() || steps.len() == state.offered.len(), "I2");
        debug_assert!(!state.leaps.is_empty() || state.offered.iter().all(is_each), "I2");
    }

    fn steps_of(&self, key: &[u8], step: Step, path: u32) -> Vec<(Step, u32)> {
        if leap::number(step).is_none() {
            return self.system.steps_of(key, step, path);
        }
        self.shown(key, step, path).0.into_iter().map(|shown| (shown.step, shown.path)).collect()
    }

    fn minds(&self, state: &mut Self::State, phase: u32) {
        state.desk.phase = phase;
    }

    fn heed(&self, state: &mut Self::State, assertions: bool, promises: bool) {
        self.system.heed(&mut state.own, assertions, promises);
        state.between.iter_mut().for_each(|between| self.system.heed(between, assertions, promises));
    }

    fn look(&self, state: &mut Self::State, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        self.system.look(&mut state.own, bits)
    }

    fn happens(
        &self,
        state: &mut Self::State,
        one: &[u64],
        fired: (&[Step], &Batch),
        bits: &mut Vec<u64>,
    ) -> Result<(), FaultKind> {
        let (steps, batch) = fired;
        if steps.iter().all(|s| leap::number(*s).is_none()) {
            return self.system.happens(&mut state.own, one, fired, bits);
        }
        bits.clear();
        for outcome in &batch.outcomes {
            self.happens_last(&state.key, steps[outcome.step as usize], outcome.path, bits)?;
        }
        Ok(())
    }

    fn may_end(&self, state: &Self::State) -> bool {
        self.system.may_end(&state.own)
    }
}
