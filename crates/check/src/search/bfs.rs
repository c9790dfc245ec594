//! Breadth-first by levels: every violation at its least depth.
//!
//! Fits    safety; any `Successors`, any exact `Visited`.
//!
//! # The argument
//!   Numbers are given in order, so the states of a level are a range of numbers and there is no queue. Level
//!   0 is the initial state; the states first met while level n is expanded are level n + 1. A state is first
//!   met from a state of the least possible level, so the links to first parents form shortest paths.
//!   The successors of several states go to the store together: only the order of the keys matters, and that
//!   stays the order of the states.
//!
//! # Invariants
//!   I1 a state's number lies in the range of its level
//!   I2 each state has a link, made when it was new
//!
//! # Owed
//!   O1 counts and verdicts = depth-first = oracle   tests: random toy systems
//!   O2 the trace is a shortest one                  tests: the same, against the oracle's distances
//!
//! # Cost  each state expanded once; four bytes a state for its link.

use super::{Ledger, Request, Searched, Stopped, Watch};
use crate::counters::{Counters, EdgeSet};
use crate::observer::Observer;
use crate::verdict::Kind;
use spinor_model::successors::{Batch, Step, Successors};
use spinor_store::{Links, StateId, Visited};

/// Keys handed to the store together.
const KEYS: usize = 32;

pub fn search<S: Successors, V: Visited>(
    system: &S,
    store: V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched<V> {
    assert!(store.is_empty(), "a search starts with an empty store");
    let mut run = Run {
        system,
        store,
        links: Links::default(),
        ledger: Ledger::new(request.clone()),
        counters: Counters::default(),
        reached: EdgeSet::default(),
        truncated: EdgeSet::default(),
        batch: Batch::default(),
        offered: Vec::new(),
        steps: Vec::new(),
        sources: Vec::new(),
        level: 0..0,
        ranges: Vec::new(),
        answers: Vec::new(),
    };
    let stopped = run.levels(&mut Watch::new(observer));
    let bytes = run.bytes();
    let Run { store, ledger, counters, reached, truncated, .. } = run;
    Searched { store, found: ledger.found, tally: ledger.tally, counters, reached, truncated, stopped, bytes }
}

struct Run<'a, S, V> {
    system: &'a S,
    store: V,
    links: Links,
    ledger: Ledger,
    counters: Counters,
    reached: EdgeSet,
    truncated: EdgeSet,
    /// The outcomes of the states in `sources`, not yet in the store.
    batch: Batch,
    /// The steps of the state at hand, and those of all the sources.
    offered: Vec<Step>,
    steps: Vec<Step>,
    sources: Vec<Source>,
    /// The numbers of the states being expanded.
    level: std::ops::Range<usize>,
    ranges: Vec<std::ops::Range<usize>>,
    answers: Vec<(StateId, bool)>,
}

/// A state whose successors are in the batch.
struct Source {
    id: StateId,
    outcomes_to: usize,
    steps_from: usize,
}

impl<S: Successors, V: Visited> Run<'_, S, V> {
    fn levels(&mut self, watch: &mut Watch<'_>) -> Option<Stopped> {
        match self.system.initial() {
            Ok(state) => {
                self.system.pack(&state, &mut self.batch.keys);
                self.ranges.push(0..self.batch.keys.len());
                self.store.find_or_put_all(&self.batch.keys, &self.ranges, &mut self.answers);
                self.links.push(StateId(0), StateId(0));
                self.counters = Counters { stored: 1, transitions: 1, ..Counters::default() };
                self.batch.clear();
            }
            Err(fault) => {
                self.ledger.fault(&fault, None, Vec::new);
                return None;
            }
        }
        let max_depth = self.ledger.request.max_depth.map_or(u64::MAX, u64::from);
        let mut cut = false;
        for depth in 0.. {
            self.level = self.level.end..self.store.len();
            if self.level.is_empty() {
                break;
            }
            self.counters.depth = depth;
            for n in self.level.clone() {
                cut |= self.expand(StateId(n as u32), depth < max_depth);
                if self.batch.outcomes.len() >= KEYS {
                    self.flush();
                }
                if self.ledger.settled() {
                    return Some(Stopped::Settled);
                }
                let Run { store, links, ledger, counters, .. } = self;
                let frontier = (store.len() - n) as u64;
                let stop =
                    watch.poll(&ledger.request, counters, frontier, store.room(), || store.bytes() + links.bytes());
                if stop.is_some() {
                    self.flush();
                    return stop;
                }
            }
            self.flush();
            if self.ledger.settled() {
                return Some(Stopped::Settled);
            }
            debug_assert_eq!(self.links.len(), self.store.len(), "I2");
        }
        cut.then_some(Stopped::Depth(max_depth as u32))
    }

    /// Lays the successors of a state into the batch. Says whether they were left out for the depth.
    fn expand(&mut self, id: StateId, deeper: bool) -> bool {
        let state = self.system.unpack(self.store.get(id));
        let steps_from = self.steps.len();
        self.system.enabled(&state, &mut self.offered);
        if self.offered.is_empty() {
            if !self.system.may_end(&state) {
                let links = &self.links;
                self.ledger.note(Kind::EndState, None, None, || links.path_to(id));
            }
            return false;
        }
        if !deeper {
            return true;
        }
        self.system.fire(&state, &self.offered, &mut self.batch);
        self.steps.append(&mut self.offered);
        self.sources.push(Source { id, outcomes_to: self.batch.outcomes.len(), steps_from });
        false
    }

    /// Hands the batch to the store and takes note of what came of it.
    fn flush(&mut self) {
        let keys = self.batch.outcomes.iter().filter_map(|o| o.key.clone());
        self.ranges.clear();
        self.ranges.extend(keys);
        self.store.find_or_put_all(&self.batch.keys, &self.ranges, &mut self.answers);
        let mut answers = self.answers.iter();
        let mut outcomes_from = 0;
        for source in &self.sources {
            for outcome in &self.batch.outcomes[outcomes_from..source.outcomes_to] {
                let links = &self.links;
                for fault in &outcome.faults {
                    let step = self.steps[source.steps_from + outcome.step as usize];
                    self.ledger.fault(fault, Some((step, outcome.path)), || links.path_to(source.id));
                }
                self.counters.atomic_steps += u64::from(outcome.atomic_steps);
                if outcome.key.is_some() {
                    let &(id, new) = answers.next().expect("one answer a key");
                    self.counters.transitions += 1;
                    if new {
                        self.counters.stored += 1;
                        debug_assert!(self.level.contains(&(source.id.0 as usize)), "I1");
                        debug_assert!(id.0 as usize >= self.level.end, "I1");
                        self.links.push(id, source.id);
                    }
                }
            }
            outcomes_from = source.outcomes_to;
        }
        for &(p, e) in &self.batch.reached {
            self.reached.put(p, e);
        }
        for &(p, e) in &self.batch.truncated {
            self.truncated.put(p, e);
        }
        assert_eq!(self.counters.stored, self.store.len() as u64);
        self.batch.clear();
        self.sources.clear();
        self.steps.clear();
    }

    fn bytes(&self) -> u64 {
        self.store.bytes() + self.links.bytes()
    }
}
