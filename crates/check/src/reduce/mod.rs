//! Partial order reduction: of the steps of a state, as many as matter.
//!
//! | file | is |
//! |---|---|
//! | this | the system with fewer steps |
//! | `statics` | what is known before a state is met: fixed slots, chains, loops |
//! | `touch` | what a step of a process looks at and changes |
//! | `cast` | the processes that live, and what their steps have to do with each other |
//! | `rounds` | whose loops are to be closed |
//! | `stubborn` | which steps are enough |
//! | `still` | what else they must have for cycles without progress |
//! | `repairs` | handshakes that become possible where somebody minds |
//! | `probe` | which of two reductions comes further |
//! | `checked` | a selection under its own definition |
//! | `without` | conditions left out, by tests |
//!
//! A system that is [`Reduced`] is a system: it has fewer steps in some states, chosen by the state alone. Whatever
//! searches it sees one graph, so what is proved of that graph is true of every search, with any number of threads, and
//! beside any automaton that cannot tell how long a run stays where nothing is to be seen.
//!
//! # What is preserved
//!   P1 states without steps, and which steps fault; which edges are taken: by decomposition and cycle
//!   P2 runs that never end, as far as what is looked at and stuttering go: with visibility in addition
//!   P3 weakly and strongly fair runs: with F in addition
//!   P4 cycles without progress, and how little progress is before them: with the rules of `still` instead of all that
//!   Not: how many states, steps or violations there are, nor the least depth of anything.
//!
//! # Phases
//!   What is looked at may become less: an automaton that waits for p and then for q does not mind p any more when it waits
//!   for q. Whoever looks says in which phase it is, and a step counts as seen if something changes that may be looked
//!   at in this phase or later. For each set V of things looked at there is a reduced graph G(V); the search goes through
//!   G(V) as long as the automaton may yet look at V.
//!   Let the automaton accept a run σ of the system from s on, being in q, where it may yet look at V. By P2 there is a
//!   run ρ of G(V) from s that looks the same up to stuttering, as far as V goes. What is accepted from q depends on V
//!   alone, and if it is closed under stuttering the automaton accepts ρ from q. Take such a run of it. If it minds V for
//!   ever, we are done: this is a run of the product that is searched. Else there is a first place where it comes to a
//!   state q' from which it minds less. Up to there the run is one of the product that is searched; and the rest
//!   of ρ is a run of the system that is accepted from q', and so on, as often as there are things to be looked at.
//!   So it is needed that what is accepted is closed under stuttering, from each state in which a phase begins
//!   (`claim.rs`). Fairness is a matter of how a run goes on for ever, so all this is true of fair runs.
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
pub mod checked;
mod probe;
mod repairs;
mod rounds;
mod statics;
pub mod still;
mod stubborn;
mod touch;
#[doc(hidden)]
pub mod without;

use cast::{Cast, Making};
use checked::Auditor;
pub use probe::Reach;
pub use repairs::{AbleBy, Repairs, UnlessBy};
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::index::Idx;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, Loc, Pid, System};
use spinor_model::layout::Layout;
use spinor_model::successors::{Batch, Outcome, Step, Successors, Wish};
use statics::Statics;
use std::collections::HashMap;
use std::sync::{Arc, RwLock};
use still::Still;
use stubborn::Rules;
use without::{Condition, Without};

/// How steps are selected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selector {
    /// The steps of one process.
    Ample,
    /// The steps of as many processes as it takes.
    Stubborn,
}

/// Who sees to it that no step is left out for ever: the cycle condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Proviso {
    /// Nobody: states without steps are found all the same, and with the rules of `still` cycles without progress.
    None,
    /// The selection, at the steps that close loops (`statics`). For every search and every question.
    Loops,
    /// Breadth-first search, by its levels (`search/bfs.rs`). For what finite runs show.
    Levels,
    /// Depth-first search, by its path: a selection with a step back to the path is not taken. The search says which of the
    /// selections it wants, and remembers it (`cycles/ndfs.rs`): the number, or whether it was the first or none.
    PathNumber,
    PathBit,
}

impl Proviso {
    pub fn word(self) -> &'static str {
        match self {
            Proviso::None => "none",
            Proviso::Loops => "loops",
            Proviso::Levels => "levels",
            Proviso::PathNumber => "stack-number",
            Proviso::PathBit => "stack-bit",
        }
    }

    /// The search has a say in what is selected.
    pub fn is_path(self) -> bool {
        matches!(self, Proviso::PathNumber | Proviso::PathBit)
    }
}

/// See the module.
pub struct Reduction {
    interp: Interp,
    statics: Statics,
    /// By phase; in the first one it is everything.
    looked: Vec<Vec<Expr>>,
    fair: bool,
    selector: Selector,
    still: Option<Still>,
    repairs: Repairs,
    without: Without,
    /// By phase.
    auditors: Vec<Auditor>,
    casts: RwLock<HashMap<Vec<i32>, Option<Arc<Cast>>>>,
}

/// No more casts are kept; states of others are not reduced.
const MOST_CASTS: usize = 1 << 10;
/// With more phases all is one.
const MOST_PHASES: usize = 64;

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
    /// Of this system, which must not be refused. `looked` is what is looked at in its states, from outside; with `fair`
    /// it matters who could move.
    pub fn new(system: Arc<System>, selector: Selector, looked: &[Expr], fair: bool) -> Reduction {
        assert!(refusal(&system).is_none(), "the plan refuses it");
        let interp = Interp::new(system);
        let statics = Statics::new(interp.system(), interp.layout(), looked);
        let (looked, still, repairs) = (vec![looked.to_vec()], None, Repairs::default());
        let (without, auditors, casts) = (Without::default(), Vec::new(), RwLock::default());
        Reduction { interp, statics, looked, fair, selector, still, repairs, without, auditors, casts }
    }

    /// For cycles without progress, without a proviso.
    pub fn for_progress(system: Arc<System>, selector: Selector, still: Still) -> Reduction {
        let mut reduction = Reduction::new(system, selector, &[], false);
        reduction.still = Some(still.on(reduction.interp.system(), &reduction.statics));
        reduction
    }

    /// What is looked at in each phase, as columns of what is looked at at all: the first phase has all of them.
    pub fn phased(mut self, phases: &[Vec<u32>]) -> Reduction {
        assert!(self.auditors.is_empty(), "auditors look at phases");
        if phases.len() <= MOST_PHASES {
            let all = &self.looked[0];
            let rest = phases.iter().skip(1).map(|p| p.iter().map(|c| all[*c as usize].clone()).collect());
            self.looked = std::iter::once(all.clone()).chain(rest).collect();
        }
        self
    }

    /// By the papers' ways, if they are wanted.
    pub fn repaired(mut self, repairs: Repairs) -> Reduction {
        self.repairs = repairs;
        self
    }

    pub fn repairs(&self) -> Repairs {
        self.repairs
    }

    /// Every selection is tried out (`checked`), if that is wanted.
    pub fn audited_if(mut self, wanted: bool) -> Reduction {
        // The papers' ways keep less in order than F says.
        let fair = self.fair && self.repairs.able == AbleBy::Guards;
        let auditor = |looked: &Vec<Expr>| Auditor::new(self.interp.shared_system(), looked, fair);
        self.auditors = self.looked.iter().filter(|_| wanted).map(auditor).collect();
        self
    }

    /// How many selections were tried out.
    pub fn n_audited(&self) -> u64 {
        self.auditors.iter().map(Auditor::n_audited).sum()
    }

    /// The same, for a report.
    pub fn audit_note(&self) -> Option<String> {
        (!self.auditors.is_empty()).then(|| format!("audited: {} selections", self.n_audited()))
    }

    #[doc(hidden)]
    pub fn without(mut self, condition: Condition) -> Reduction {
        self.without = Without::one(condition);
        self
    }

    fn layout(&self) -> &Layout {
        self.interp.layout()
    }

    /// Puts steps that are enough into `chosen`.
    fn select(&self, desk: &mut Desk, proviso: Proviso, key: &[u8], steps: &[Step], chosen: &mut Vec<Step>) {
        chosen.clear();
        // One process alone has no one to be left out; where nothing else could happen, nothing is left out.
        let several = steps.iter().any(|s| s.pid != steps[0].pid) && !steps[0].timeout;
        let several = several && desk.wish.attempt != Some(0);
        if !several || !self.select_some(desk, proviso, key, steps, chosen) {
            chosen.clear();
            chosen.extend_from_slice(steps);
        }
    }

    fn select_some(
        &self,
        desk: &mut Desk,
        proviso: Proviso,
        key: &[u8],
        steps: &[Step],
        chosen: &mut Vec<Step>,
    ) -> bool {
        if !desk.cast.as_ref().is_some_and(|c| c.fits(self.layout(), &self.statics, key)) {
            desk.cast = self.cast(key);
        }
        let Some(cast) = &desk.cast else { return false };
        let layout = self.layout();
        desk.stubborn.stands(layout.frames(key).map(|(at, _)| Loc::new(layout.loc.read(&key[at..]) as usize)));
        if self.minds(cast, desk.stubborn.locs(), desk.wish.waited, steps) {
            return false;
        }
        let phase = if (desk.phase as usize) < self.looked.len() { desk.phase } else { 0 };
        let (alone, strict) = (self.selector == Selector::Ample, proviso == Proviso::Loops);
        let attempt = proviso.is_path().then_some(desk.wish.attempt.unwrap_or(1));
        let rules = Rules { alone, strict, phase, still: self.rule(), attempt };
        desk.stubborn.select(cast, key, steps, rules, chosen)
    }

    /// Nothing may be left out, because it would be minded that a handshake becomes possible (`repairs`).
    fn minds(&self, cast: &Cast, locs: &[Loc], waited: Option<Pid>, steps: &[Step]) -> bool {
        let can = |pid: Pid| steps.iter().any(|s| s.pid == pid);
        let offers = |pid: Pid| {
            let counts = self.without.keeps(Condition::Waited) || !can(pid);
            counts && self.without.keeps(Condition::Offered) && cast.offers(pid, locs)
        };
        self.repairs.unless == UnlessBy::Dynamic && cast.is_minded(locs, steps)
            || self.repairs.able.asks_who_is_waited_for() && waited.is_some_and(offers)
    }

    fn rule(&self) -> Option<still::Rule> {
        self.still.as_ref().map(|still| still.rule)
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
            fair: self.fair,
            still: self.still.as_ref(),
            repairs: self.repairs,
            without: self.without,
        };
        let mut casts = self.casts.write().expect("nothing panics while it is held");
        if casts.len() >= MOST_CASTS {
            return None;
        }
        let number = casts.len() as u32;
        let make = || making.cast(&self.interp.unpack(key), signature.clone(), number).map(Arc::new);
        casts.entry(signature.clone()).or_insert_with(make).clone()
    }
}

/// One thread's.
#[derive(Clone, Default)]
struct Desk {
    phase: u32,
    wish: Wish,
    cast: Option<Arc<Cast>>,
    stubborn: stubborn::Desk,
}

/// A system with fewer steps. Clones share what they learn.
#[derive(Clone)]
pub struct Reduced<S> {
    system: Arc<S>,
    reduction: Arc<Reduction>,
    proviso: Proviso,
}

impl<S> Reduced<S> {
    pub fn proviso(&self) -> Proviso {
        self.proviso
    }

    pub fn reduction(&self) -> &Reduction {
        &self.reduction
    }
}

impl<S: Successors> Reduced<S> {
    pub fn new(system: Arc<S>, reduction: Arc<Reduction>, proviso: Proviso) -> Reduced<S> {
        Reduced { system, reduction, proviso }
    }
}

/// Walks, and states on each, by which it is judged what a reduction saves.
const WALKS: u64 = 24;
const WALK: usize = 24;

impl<S: Successors + Send> Reduced<S> {
    /// States from which reductions can be compared, as keys.
    pub fn starts(&self) -> Vec<Vec<u8>> {
        probe::starts(self)
    }

    /// How far it comes from these states with few others.
    pub fn reach(&self, starts: &[Vec<u8>]) -> Reach {
        probe::reach(self, starts)
    }

    /// Which part of the steps is left out, on random walks: from 0 to 1.
    pub fn saves(&self) -> f64 {
        let Ok(initial) = self.initial() else { return 0.0 };
        let mut batch = self.batch();
        let (mut n_offered, mut n_chosen) = (0, 0);
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        for _ in 0..WALKS {
            let mut state = initial.clone();
            for _ in 0..WALK {
                batch.clear();
                self.expand(&mut state, &mut batch);
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
        1.0 - n_chosen as f64 / n_offered.max(1) as f64
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
    fn minds_faults(&self) -> bool {
        self.reduction.without.keeps(Condition::Fault)
    }

    fn audit(&self, state: &State<S::State>) {
        let auditors = &self.reduction.auditors;
        let auditor = auditors.get(state.desk.phase as usize).or(auditors.first());
        if let Some(auditor) = auditor.filter(|_| state.leaves_out()) {
            auditor.audit(&state.key, &state.offered, &state.chosen);
        }
    }

    fn select(&self, state: &mut State<S::State>) {
        let State { own, key, offered, chosen, desk, .. } = state;
        self.system.enabled(own, offered);
        self.reduction.select(desk, self.proviso, key, offered, chosen);
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
            if self.minds_faults() && ends_a_run(&batch.outcomes) {
                state.chosen.clone_from(&state.offered);
            }
            state.batch = Some(batch);
            self.audit(state);
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
        if state.leaves_out() && self.minds_faults() && ends_a_run(&batch.outcomes[n_outcomes..]) {
            batch.outcomes.truncate(n_outcomes);
            batch.keys.truncate(n_keys);
            batch.faults.truncate(n_faults);
            state.chosen.clone_from(&state.offered);
            self.system.fire(&mut state.own, &state.chosen, batch);
        }
        self.audit(state);
        state.chosen.len()
    }

    fn expand_owned(&self, state: &mut Self::State, batch: &mut Batch, owners: &mut Vec<Pid>) -> usize {
        let n = self.expand(state, batch);
        owners.clear();
        owners.extend(state.chosen.iter().map(|step| step.pid));
        owners.extend(state.offered.iter().map(|step| step.pid));
        n
    }

    fn wish(&self, state: &mut Self::State, wish: Wish) {
        state.desk.wish = wish;
    }

    fn leaves_out(&self, state: &Self::State) -> bool {
        state.leaves_out()
    }

    fn expand_rest(&self, state: &mut Self::State, batch: &mut Batch) {
        let mut steps = Vec::new();
        self.all_enabled(state, &mut steps);
        let (n_chosen, from) = (state.chosen.len(), batch.outcomes.len());
        self.system.fire(&mut state.own, &steps[n_chosen..], batch);
        batch.outcomes[from..].iter_mut().for_each(|o| o.step += n_chosen as u32);
    }

    fn all_enabled(&self, state: &mut Self::State, steps: &mut Vec<Step>) {
        self.enabled(state, steps);
        let State { offered, chosen, .. } = state;
        steps.extend(offered.iter().filter(|s| !chosen.contains(s)));
    }

    fn minds(&self, state: &mut Self::State, phase: u32) {
        state.desk.phase = phase;
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
