//! Partial order reduction: of the steps of a state, as many as matter.
//!
//! | file | is |
//! |---|---|
//! | this | the system with fewer steps |
//! | `statics` | what is known before a state is met: fixed slots, chains, loops |
//! | `touch` | what a step of a process looks at and changes |
//! | `cast` | the processes that live, and what their steps have to do with each other |
//! | `stubborn` | which steps are enough |
//!
//! A system that is [`Reduced`] is a system: it has fewer steps in some states, chosen by the state alone. Whatever
//! searches it sees one graph, so what is proved of that graph is true of every search, with any number of threads, and
//! beside any automaton that cannot tell how long a run stays where nothing is to be seen.
//!
//! # What is preserved
//!   P1 states without steps, and which steps fault; which edges are taken: by decomposition and cycle
//!   P2 runs that never end, as far as what is looked at and stuttering go: with visibility in addition
//!   P3 weakly and strongly fair runs: with F in addition
//!   Not: how many states, steps or violations there are, nor the least depth of anything.
//!
//! # Fairness
//!   F  Steps of different processes that may change whether a third one can move disturb each other.
//!   Take a fair run from a state where steps were left out. It has a step of the selection: a step of the selection
//!   stays possible as long as none is taken, so its process could always move, and must do so; its next step is of the
//!   selection, which has all of its steps here (`stubborn`, D1). So by decomposition the run is only put in another
//!   order, and nothing is added to it. A process that moves for ever still does. One that moves no more is somewhere
//!   disabled for ever or again and again; what changes that are steps that keep their order (F), so it still is.
//!   Who can move in a state is asked of all its steps, also of those left out.
//!
//! # Faults
//!   A step that a fault ends leads nowhere, so nothing could be made up for behind it: where a selection has one,
//!   nothing is left out.
//!
//! # Who is refused
//!   Priorities and `_last`: every step is disturbed by every other.

mod cast;
mod statics;
mod stubborn;
mod touch;

use cast::{Cast, Making};
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, Loc, Pid, System};
use spinor_model::layout::Layout;
use spinor_model::successors::{Batch, Outcome, Step, Successors};
use statics::Statics;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};

/// How steps are selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selector {
    /// The steps of one process.
    Ample,
    /// The steps of as many processes as it takes.
    Stubborn,
}

/// What is asked of the reduced graph.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// What is looked at in its states, from outside.
    pub looked: &'a [Expr],
    /// Steps that are left out must be made up for later; who asks for states without steps only does not mind.
    pub cycles: bool,
    /// It matters who could move.
    pub fair: bool,
}

/// See the module.
pub struct Reduction {
    interp: Interp,
    statics: Statics,
    looked: Vec<Expr>,
    closes: bool,
    fair: bool,
    selector: Selector,
    casts: RwLock<HashMap<Vec<i32>, Option<Arc<Cast>>>>,
}

/// No more casts are kept; states of others are not reduced.
const MOST_CASTS: usize = 1 << 10;

/// Why a system cannot be reduced, if so.
pub fn refusal(system: &System) -> Option<&'static str> {
    if system.uses.priorities {
        Some("priorities: who may move depends on everyone else")
    } else if system.uses.last {
        Some("`_last`: every step is seen by whoever reads it")
    } else {
        None
    }
}

impl Reduction {
    /// Of this system, which must not be refused.
    pub fn new(system: Arc<System>, selector: Selector, asked: Asked<'_>) -> Reduction {
        assert!(refusal(&system).is_none(), "the plan refuses it");
        let interp = Interp::new(system);
        let statics = Statics::new(interp.system(), interp.layout(), asked.looked);
        let (looked, closes, fair) = (asked.looked.to_vec(), asked.cycles, asked.fair);
        Reduction { interp, statics, looked, closes, fair, selector, casts: RwLock::default() }
    }

    fn layout(&self) -> &Layout {
        self.interp.layout()
    }

    /// Puts steps that are enough into `chosen`.
    fn select(&self, desk: &mut Desk, key: &[u8], steps: &[Step], chosen: &mut Vec<Step>) {
        chosen.clear();
        // One process alone has no one to be left out; where nothing else could happen, nothing is left out.
        let several = steps.iter().any(|s| s.pid != steps[0].pid) && !steps[0].timeout;
        if !several || !self.select_some(desk, key, steps, chosen) {
            chosen.clear();
            chosen.extend_from_slice(steps);
        }
    }

    fn select_some(&self, desk: &mut Desk, key: &[u8], steps: &[Step], chosen: &mut Vec<Step>) -> bool {
        if !desk.cast.as_ref().is_some_and(|c| c.fits(self.layout(), &self.statics, key)) {
            desk.cast = self.cast(key);
        }
        let Some(cast) = &desk.cast else { return false };
        let layout = self.layout();
        desk.stubborn.stands(layout.frames(key).map(|(at, _)| Loc::new(layout.loc.read(&key[at..]) as usize)));
        desk.stubborn.select(cast, steps, self.selector == Selector::Ample, chosen)
    }

    #[cold]
    fn cast(&self, key: &[u8]) -> Option<Arc<Cast>> {
        let signature = cast::signature(self.layout(), &self.statics, key);
        if let Some(cast) = self.casts.read().expect("nothing panics while it is held").get(&signature) {
            return cast.clone();
        }
        let making = Making {
            system: self.interp.system(),
            statics: &self.statics,
            interp: &self.interp,
            looked: &self.looked,
            closes: self.closes,
            fair: self.fair,
        };
        let mut casts = self.casts.write().expect("nothing panics while it is held");
        if casts.len() >= MOST_CASTS {
            return None;
        }
        let make = || making.cast(&self.interp.unpack(key), signature.clone()).map(Arc::new);
        casts.entry(signature.clone()).or_insert_with(make).clone()
    }
}

/// One thread's.
#[derive(Clone, Default)]
struct Desk {
    cast: Option<Arc<Cast>>,
    stubborn: stubborn::Desk,
}

/// A system with fewer steps. Clones share what they learn.
#[derive(Clone)]
pub struct Reduced<S> {
    system: Arc<S>,
    reduction: Arc<Reduction>,
}

impl<S: Successors> Reduced<S> {
    pub fn new(system: Arc<S>, reduction: Arc<Reduction>) -> Reduced<S> {
        Reduced { system, reduction }
    }
}

/// A state of a reduced system.
#[derive(Clone)]
pub struct State<T> {
    own: T,
    key: Vec<u8>,
    offered: Vec<Step>,
    chosen: Vec<Step>,
    desk: Desk,
    /// To see what the chosen steps lead to.
    batch: Option<Batch>,
}

impl<T> State<T> {
    fn leaves_out(&self) -> bool {
        self.chosen.len() < self.offered.len()
    }
}

/// What is left out is made up for after the steps that are taken: each of them must lead somewhere.
fn ends_a_run(outcomes: &[Outcome]) -> bool {
    outcomes.iter().any(|o| o.key().is_none())
}

impl<S: Successors> Reduced<S> {
    fn select(&self, state: &mut State<S::State>) {
        let State { own, key, offered, chosen, desk, .. } = state;
        self.system.enabled(own, offered);
        self.reduction.select(desk, key, offered, chosen);
    }

    fn state(&self, own: S::State, key: Vec<u8>) -> State<S::State> {
        State { own, key, offered: Vec::new(), chosen: Vec::new(), desk: Desk::default(), batch: None }
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
    }

    fn batch(&self) -> Batch {
        self.system.batch()
    }

    fn enabled(&self, state: &mut Self::State, steps: &mut Vec<Step>) {
        self.select(state);
        if state.leaves_out() {
            let mut batch = state.batch.take().unwrap_or_else(|| self.batch());
            batch.clear();
            self.system.fire(&mut state.own, &state.chosen, &mut batch);
            if ends_a_run(&batch.outcomes) {
                state.chosen.clone_from(&state.offered);
            }
            state.batch = Some(batch);
        }
        steps.clone_from(&state.chosen);
    }

    fn fire(&self, state: &mut Self::State, steps: &[Step], batch: &mut Batch) {
        self.system.fire(&mut state.own, steps, batch);
    }

    fn expand(&self, state: &mut Self::State, batch: &mut Batch) -> usize {
        self.select(state);
        let (n_outcomes, n_keys, n_faults) = (batch.outcomes.len(), batch.keys.len(), batch.faults.len());
        self.system.fire(&mut state.own, &state.chosen, batch);
        if state.leaves_out() && ends_a_run(&batch.outcomes[n_outcomes..]) {
            batch.outcomes.truncate(n_outcomes);
            batch.keys.truncate(n_keys);
            batch.faults.truncate(n_faults);
            state.chosen.clone_from(&state.offered);
            self.system.fire(&mut state.own, &state.chosen, batch);
        }
        state.chosen.len()
    }

    fn expand_owned(&self, state: &mut Self::State, batch: &mut Batch, owners: &mut Vec<Pid>) -> usize {
        let n = self.expand(state, batch);
        owners.clear();
        owners.extend(state.chosen.iter().map(|step| step.pid));
        owners.extend(state.offered.iter().map(|step| step.pid));
        n
    }

    fn heed(&self, state: &mut Self::State, assertions: bool, promises: bool) {
        self.system.heed(&mut state.own, assertions, promises);
    }

    fn look(&self, state: &mut Self::State, bits: &mut Vec<u64>) -> Result<(), FaultKind> {
        self.system.look(&mut state.own, bits)
    }

    fn may_end(&self, state: &Self::State) -> bool {
        self.system.may_end(&state.own)
    }
}
