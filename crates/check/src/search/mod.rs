//! Exhaustive searches for safety, and what they have in common.
//!
//! A search sees keys, steps and outcomes. It answers all that finite runs show at once (`verdict`, SAFETY): faults, states
//! without steps, edges that are never taken; and, in every state, conditions that it was given to look at. It notes which
//! edges were taken. What it finds are the steps from the initial state to the violation; [`crate::trace`] turns them into
//! something to read.

pub mod answer;
pub mod bfs;
pub mod dfs;
pub mod fewest;
pub(crate) mod held;
pub(crate) mod levels;
pub mod order;
mod paths;
pub(crate) mod team;
pub(crate) mod watch;

#[cfg(test)]
mod tests;

use crate::counters::Counters;
use crate::reduce::Proviso;
use crate::verdict::{Kind, SAFETY};
use spinor_model::fault::Fault;
use spinor_model::ir::{EdgeId, ProctypeId};
use spinor_model::successors::{EdgeSet, Step, Successors};
use spinor_store::{Budget, Full};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What to look for and when to stop.
#[derive(Clone, Debug)]
pub struct Request {
    /// Of a system that leaves out steps: who sees to it that none is left out for ever. The search has a part in it where
    /// that is done by levels, or by the path of one thread.
    pub proviso: Proviso,
    /// Breadth-first: as long as a level begins with fewer states than these, such a system is to leave out nothing.
    pub por_from: u64,
    pub kinds: Vec<Kind>,
    /// A state in which column `n` of what is looked at is true violates the `n`-th of these.
    pub looked: Vec<Kind>,
    /// As in the settings.
    pub all_errors: Option<usize>,
    pub max_depth: Option<u32>,
    pub max_time: Option<Duration>,
    /// Of everything that grows: the store, the levels, the stacks.
    pub budget: Arc<Budget>,
    /// Threads that may search.
    pub jobs: usize,
    /// Depth-first, so many states are one thread's work before the others help; breadth-first, an eighth of them is, in
    /// each level.
    pub alone: u64,
}

/// To start a thread costs 20 to 50 µs, which is the work of some hundred states; to call one that waits, a tenth.
const ALONE: u64 = 1 << 11;

impl Request {
    /// By levels: see `bfs`, D2.
    fn makes_up(&self) -> bool {
        match self.proviso {
            Proviso::Levels => true,
            Proviso::None | Proviso::Loops | Proviso::PathNumber | Proviso::PathBit | Proviso::Always => false,
        }
    }
}

impl Default for Request {
    fn default() -> Self {
        let budget = Budget::unlimited();
        let (kinds, looked, all_errors, max_depth, max_time) = (Vec::new(), Vec::new(), None, None, None);
        let (jobs, alone, por_from, proviso) = (1, ALONE, 0, Proviso::None);
        Request { kinds, looked, all_errors, max_depth, max_time, budget, jobs, alone, por_from, proviso }
    }
}

/// What a search has to say.
#[derive(Debug)]
pub struct Searched {
    /// Breadth-first, those of a kind shortest first.
    pub found: Vec<Found>,
    /// Violations met, of every kind, asked for or not.
    pub tally: Tally,
    pub counters: Counters,
    pub reached: EdgeSet,
    pub truncated: EdgeSet,
    /// `None`: the whole space was seen.
    pub stopped: Option<Stopped>,
    /// Bytes held at the end, the store included.
    pub bytes: u64,
}

impl Searched {
    /// What is said agrees with itself, and with what was asked.
    fn check(&self, request: &Request) {
        for kind in SAFETY {
            let n_shown = self.found.iter().filter(|found| found.kind == kind).count() as u64;
            let (n_met, is_asked) = (self.tally.of(kind), request.kinds.contains(&kind));
            assert!(n_shown <= n_met, "what is shown was met, and counted");
            assert!(is_asked || n_shown == 0, "what nobody asked about is not shown");
            assert!(!is_asked || n_shown > 0 || n_met == 0, "of what was met something is shown");
            let is_settled = self.stopped == Some(Stopped::Settled);
            assert!(!is_settled || !is_asked || n_shown > 0, "a search is settled when every question has its answer");
        }
        let Counters { stored, transitions, depth, .. } = self.counters;
        assert!(transitions >= stored, "each state is the end of a transition");
        assert!(stored == 0 || depth < stored, "each level, and each place of a path, has a state of its own");
        let deepest = request.max_depth.map_or(u64::MAX, u64::from);
        assert!(depth <= deepest, "no state lies deeper than was allowed");
        for Found { kind, fault, .. } in &self.found {
            let of_state = || *kind == Kind::EndState || request.looked.contains(kind);
            assert!(fault.as_ref().map_or_else(of_state, |f| Kind::of(&f.kind) == *kind), "a fault is of its kind");
        }
    }

    /// Not even the store found room.
    pub fn none<S: Successors>(system: &S, full: Full, request: &Request) -> Searched {
        let edges = system.batch();
        Searched {
            found: Vec::new(),
            tally: Tally::default(),
            counters: Counters::default(),
            reached: edges.reached,
            truncated: edges.truncated,
            stopped: Some(stopped_by(full, &request.budget)),
            bytes: 0,
        }
    }
}

/// A violation: the steps to it from the initial state, each with the number of its outcome. The last one shows the
/// fault; at an invalid end there is no fault and no step after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub kind: Kind,
    /// Empty also if the initial state could not be made.
    pub steps: Vec<(Step, u32)>,
    pub fault: Option<Fault>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// States at this depth were not expanded.
    Depth(u32),
    Time(Duration),
    /// This many bytes were not enough.
    Memory(u64),
    /// The store has no more numbers.
    Numbers,
    Interrupted,
    /// Everything asked for was found to be violated.
    Settled,
    /// What a formula or claim looks at has no value in some state.
    Blind,
    /// Nothing was found, by a search that may miss what there is.
    OneWay,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Depth(n) => write!(f, "the search was cut at depth {n}"),
            Stopped::Time(t) => write!(f, "the search was stopped after {} s", t.as_secs_f64()),
            Stopped::Memory(n) => write!(f, "the search was stopped at {:.1} MiB of memory", *n as f64 / 1048576.0),
            Stopped::Numbers => write!(f, "the store is full: there are no more state numbers"),
            Stopped::Interrupted => write!(f, "the search was interrupted"),
            Stopped::Blind => write!(
                f,
                "the search came to a state in which a condition of the property has no value: a division by zero, an index \
                 out of bounds, a channel that is none"
            ),
            Stopped::OneWay => write!(
                f,
                "nothing was found, by a search that may miss fair cycles of symmetric processes (`--search scc` does not)"
            ),
            Stopped::Settled => write!(f, "the search stopped at the last violation it was asked for"),
        }
    }
}

/// A thread that searches. Long expressions are deep recursions, for which the usual 2 MiB may be too few.
pub(crate) fn thread() -> std::thread::Builder {
    std::thread::Builder::new().name("search".to_string()).stack_size(32 << 20)
}

/// The search is to end; why is known to its [`watch::Signals`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Halt;

/// How many violations of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally([u64; SAFETY.len()]);

impl Tally {
    pub fn of(&self, kind: Kind) -> u64 {
        row(kind).map_or(0, |r| self.0[r])
    }

    fn count(&mut self, kind: Kind) {
        self.0[row(kind).expect("a search finds the kinds of SAFETY only")] += 1;
    }

    fn join(&mut self, other: &Tally) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}

fn row(kind: Kind) -> Option<usize> {
    SAFETY.iter().position(|k| *k == kind)
}

/// Looks at a state: the kinds of property that it violates by itself.
fn look<S: Successors>(system: &S, state: &mut S::State, request: &Request, bits: &mut Vec<u64>) -> Vec<Kind> {
    system.look(state, bits).expect("what is looked at has a value in every state");
    debug_assert_eq!(bits.len(), request.looked.len().div_ceil(64), "a bit for each that is looked at");
    let n_last = request.looked.len() % 64;
    debug_assert!(n_last == 0 || bits.last().is_none_or(|last| last >> n_last == 0), "and no bit for others");
    let set = |n: &usize| bits[n / 64] >> (n % 64) & 1 != 0;
    (0..request.looked.len()).filter(set).map(|n| request.looked[n]).collect()
}

/// In debug builds one of so many keys is looked at once more.
const SOME: u64 = 16;

/// What a state is unpacked from is what it is packed into.
fn is_packed<S: Successors>(system: &S, state: &S::State, key: &[u8]) -> bool {
    let mut packed = Vec::with_capacity(key.len());
    system.pack(state, &mut packed);
    packed == key
}

/// Where a fault happened. With all errors, one trace per place: the second failure of the same assertion says
/// little new.
type Place = (ProctypeId, EdgeId);

fn place_of(fault: &Fault) -> Option<Place> {
    fault.at.map(|(_, proctype, edge)| (proctype, edge))
}

/// Knows which violations are wanted, and when there is nothing left to find.
#[derive(Debug)]
struct Ledger {
    kinds: Vec<Kind>,
    all_errors: bool,
    /// Traces a kind.
    most: usize,
    kept: [usize; SAFETY.len()],
    places: BTreeSet<(Place, Kind)>,
}

impl Ledger {
    fn new(request: &Request) -> Self {
        let answered = |kind: &Kind| row(*kind).is_some();
        assert!(request.kinds.iter().chain(&request.looked).all(answered), "the plan asks for kinds of SAFETY only");
        let most = match request.all_errors {
            None => 1,
            Some(0) => usize::MAX,
            Some(n) => n,
        };
        Ledger {
            kinds: request.kinds.clone(),
            all_errors: request.all_errors.is_some(),
            most,
            kept: [0; SAFETY.len()],
            places: BTreeSet::new(),
        }
    }

    /// Is a trace of such a violation still wanted?
    fn wants(&self, kind: Kind, place: Option<Place>) -> bool {
        self.kinds.contains(&kind)
            && row(kind).is_some_and(|r| self.kept[r] < self.most)
            && place.is_none_or(|place| !self.places.contains(&(place, kind)))
    }

    /// The same; if so, it is taken.
    fn take(&mut self, kind: Kind, place: Option<Place>) -> bool {
        let wanted = self.wants(kind, place);
        if wanted {
            self.kept[row(kind).expect("a kind of SAFETY")] += 1;
            self.places.extend(place.map(|place| (place, kind)));
            debug_assert!(place.is_none() || !self.wants(kind, place), "one trace for a place");
            debug_assert!(self.all_errors || !self.wants(kind, None), "one trace for a kind, unless all are wanted");
            debug_assert!(self.places.len() <= self.kept.iter().sum(), "who has a place has a trace");
        }
        wanted
    }

    /// Is another violation of this kind worth noticing, be it only to be counted? Of what nobody asked about, it is
    /// enough to know that there is one; and who does not ask about promises does not pay for watching them.
    fn heeds(&self, kind: Kind, met: &Tally) -> bool {
        match kind {
            _ if self.kinds.contains(&kind) => self.all_errors || self.wants(kind, None),
            Kind::Promise => false,
            _ => met.of(kind) == 0,
        }
    }

    fn settled(&self) -> bool {
        let settled = !self.all_errors && self.kinds.iter().all(|k| row(*k).is_some_and(|r| self.kept[r] > 0));
        debug_assert!(!settled || !self.kinds.iter().any(|k| self.wants(*k, None)), "what is settled wants nothing");
        settled
    }
}

/// A search whose initial state cannot be made is over.
fn no_start(fault: Fault, request: &Request, edges: spinor_model::successors::Batch) -> Searched {
    let kind = Kind::of(&fault.kind);
    let mut tally = Tally::default();
    tally.count(kind);
    let found = Ledger::new(request).take(kind, None).then(|| Found { kind, steps: Vec::new(), fault: Some(fault) });
    Searched {
        found: found.into_iter().collect(),
        tally,
        counters: Counters::default(),
        reached: edges.reached,
        truncated: edges.truncated,
        stopped: None,
        bytes: request.budget.used(),
    }
}

pub(crate) fn stopped_by(full: Full, budget: &Budget) -> Stopped {
    match full {
        Full::Memory => Stopped::Memory(budget.limit()),
        Full::Numbers => Stopped::Numbers,
    }
}
