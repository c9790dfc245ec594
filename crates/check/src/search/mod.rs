//! Exhaustive searches for safety, and what they have in common.
//!
//! A search sees keys, steps and outcomes. It answers five kinds of question at once: failed assertions, invalid
//! end states, run-time errors, trace assertions and promises. What it finds is a path of state numbers and the step that
//! went wrong after it; [`crate::trace`] turns that into something to read.

pub mod bfs;
pub mod dfs;

#[cfg(test)]
mod tests;

use crate::counters::{Counters, EdgeSet};
use crate::observer::{Control, Observer, Progress};
use crate::verdict::Kind;
use spinor_model::fault::{Fault, FaultKind};
use spinor_model::ir::{EdgeId, ProctypeId};
use spinor_model::successors::Step;
use spinor_store::StateId;
use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant};

/// The kinds one search answers.
pub const SAFETY: [Kind; 5] = [Kind::Assertion, Kind::EndState, Kind::RuntimeError, Kind::Trace, Kind::Promise];

/// Which kind of property a fault violates.
pub fn kind_of(fault: &FaultKind) -> Kind {
    match fault {
        FaultKind::Assertion => Kind::Assertion,
        FaultKind::TraceMismatch | FaultKind::NotraceMatched | FaultKind::TraceNondeterminism => Kind::Trace,
        FaultKind::Promise { .. } => Kind::Promise,
        _ => Kind::RuntimeError,
    }
}

/// What to look for and when to stop.
#[derive(Clone, Debug, Default)]
pub struct Request {
    pub kinds: Vec<Kind>,
    /// As in the settings.
    pub all_errors: Option<usize>,
    pub max_depth: Option<u32>,
    pub max_time: Option<Duration>,
    pub max_memory: Option<u64>,
}

/// What a search has to say.
#[derive(Debug)]
pub struct Searched<V> {
    pub store: V,
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

/// A violation: the states up to it, and the step that went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub kind: Kind,
    /// From the initial state on; empty if there is none.
    pub path: Vec<StateId>,
    /// The step from the last state of the path, and which of its outcomes; `None` at an end state.
    pub last: Option<(Step, u32)>,
    pub fault: Option<Fault>,
}

impl Found {
    /// Steps of the trace, an `atomic` counted as one.
    pub fn n_steps(&self) -> usize {
        self.path.len().saturating_sub(1) + usize::from(self.last.is_some())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// States at this depth were not expanded.
    Depth(u32),
    Time(Duration),
    Memory(u64),
    /// The store has no more numbers.
    Numbers,
    Interrupted,
    /// Everything asked for was found to be violated.
    Settled,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stopped::Depth(n) => write!(f, "the search was cut at depth {n}"),
            Stopped::Time(t) => write!(f, "the search was stopped after {} s", t.as_secs_f64()),
            Stopped::Memory(n) => write!(f, "the search was stopped at {:.1} MiB of memory", *n as f64 / 1048576.0),
            Stopped::Numbers => write!(f, "the store is full: there are no more state numbers"),
            Stopped::Interrupted => write!(f, "the search was interrupted"),
            Stopped::Settled => write!(f, "the search stopped at the last violation it was asked for"),
        }
    }
}

/// How many violations of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally([u64; SAFETY.len()]);

impl Tally {
    pub fn of(&self, kind: Kind) -> u64 {
        row(kind).map_or(0, |r| self.0[r])
    }
}

fn row(kind: Kind) -> Option<usize> {
    SAFETY.iter().position(|k| *k == kind)
}

/// Keeps what was found, and knows when there is nothing left to find.
struct Ledger {
    request: Request,
    found: Vec<Found>,
    tally: Tally,
    kept: [usize; SAFETY.len()],
    /// With all errors, one trace per place: the second failure of the same assertion says little new.
    places: BTreeSet<(ProctypeId, EdgeId, Kind)>,
}

impl Ledger {
    fn new(request: Request) -> Self {
        let tally = Tally::default();
        Ledger { request, found: Vec::new(), tally, kept: [0; SAFETY.len()], places: BTreeSet::new() }
    }

    /// Counts a violation, and keeps it if a trace of it is wanted.
    fn note(
        &mut self,
        kind: Kind,
        last: Option<(Step, u32)>,
        fault: Option<&Fault>,
        path: impl FnOnce() -> Vec<StateId>,
    ) {
        let r = row(kind).expect("a search finds the kinds of SAFETY only");
        let wanted = self.request.kinds.contains(&kind);
        self.tally.0[r] += 1;
        let most = match self.request.all_errors {
            None => 1,
            Some(0) => usize::MAX,
            Some(n) => n,
        };
        if !wanted || self.kept[r] >= most {
            return;
        }
        if self.request.all_errors.is_some()
            && let Some(Fault { at: Some((_, proctype, edge)), .. }) = fault
            && !self.places.insert((*proctype, *edge, kind))
        {
            return;
        }
        self.kept[r] += 1;
        self.found.push(Found { kind, path: path(), last, fault: fault.cloned() });
    }

    fn fault(&mut self, fault: &Fault, last: Option<(Step, u32)>, path: impl FnOnce() -> Vec<StateId>) {
        self.note(kind_of(&fault.kind), last, Some(fault), path);
    }

    fn settled(&self) -> bool {
        self.request.all_errors.is_none() && self.request.kinds.iter().all(|k| self.tally.of(*k) > 0)
    }
}

/// Asks now and then whether to go on.
struct Watch<'a> {
    observer: &'a mut dyn Observer,
    started: Instant,
    calls: u32,
    shown: Duration,
}

/// Expansions between two looks at the clock.
const POLL: u32 = 1 << 10;
const SHOW: Duration = Duration::from_millis(100);

impl<'a> Watch<'a> {
    fn new(observer: &'a mut dyn Observer) -> Self {
        Watch { observer, started: Instant::now(), calls: 0, shown: Duration::ZERO }
    }

    /// Once per expanded state. `bytes` is asked only when it is looked at.
    fn poll(
        &mut self,
        request: &Request,
        counters: &Counters,
        frontier: u64,
        room: usize,
        bytes: impl FnOnce() -> u64,
    ) -> Option<Stopped> {
        self.calls += 1;
        if !self.calls.is_multiple_of(POLL) {
            return None;
        }
        let elapsed = self.started.elapsed();
        let bytes = bytes();
        if let Some(t) = request.max_time
            && elapsed >= t
        {
            return Some(Stopped::Time(t));
        }
        if let Some(n) = request.max_memory
            && bytes > n
        {
            return Some(Stopped::Memory(n));
        }
        // More than the successors of POLL states, or the system has states of a thousand steps each.
        if room < 1 << 20 {
            return Some(Stopped::Numbers);
        }
        if elapsed >= self.shown + SHOW {
            self.shown = elapsed;
            let Counters { stored, transitions, depth, .. } = *counters;
            let progress = Progress { stored, transitions, depth, frontier, bytes, elapsed };
            if self.observer.progress(&progress) == Control::Stop {
                return Some(Stopped::Interrupted);
            }
        }
        None
    }
}
