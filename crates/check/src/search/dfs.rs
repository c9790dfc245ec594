//! Depth-first, one path at a time.
//!
//! Fits    safety; any `Successors`, any exact `Visited`. Traces are as long as the path was.
//!
//! # The argument
//!   A frame per state of the path: its steps, and how many of them were taken. The next outcome of the topmost
//!   frame goes to the store; if it is new it gets a frame of its own, otherwise it was reached before and
//!   whatever lies behind it is, or will be, seen from there. A frame without further outcomes is taken off.
//!   Order is SPIN's: steps as offered, and the outcomes of an `atomic` in the order of its choices.
//!
//! # Where we leave the textbook
//!   D1 frames instead of recursion: depth costs memory we count, not thread stack. Steps and outstanding
//!      keys of all frames share one stack each.
//!   D2 a frame holds a number, not a state: returning to it unpacks the state again.
//!
//! # Invariants
//!   I1 the states of the frames are a path from the initial state (trace.rs, T1, looks at each of its steps)
//!   I2 the topmost frame owns the tails of the shared stacks
//!
//! # Owed
//!   O1 counts and verdicts = breadth-first = oracle   tests: random toy systems
//!
//! # Cost  each state expanded once; 32 bytes a frame, and a step and a key for every choice not yet taken.

use super::{Ledger, Request, Searched, Stopped, Watch};
use crate::counters::{Counters, EdgeSet};
use crate::observer::Observer;
use crate::verdict::Kind;
use spinor_model::successors::{Batch, Step, Successors};
use spinor_store::{StateId, Visited};
use std::ops::Range;

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
        ledger: Ledger::new(request.clone()),
        counters: Counters::default(),
        reached: EdgeSet::default(),
        truncated: EdgeSet::default(),
        frames: Vec::new(),
        steps: Vec::new(),
        waiting: Vec::new(),
        keys: Vec::new(),
        cut: false,
    };
    let stopped = run.walk(&mut Watch::new(observer));
    let bytes = run.bytes();
    let Run { store, ledger, counters, reached, truncated, .. } = run;
    Searched { store, found: ledger.found, tally: ledger.tally, counters, reached, truncated, stopped, bytes }
}

struct Run<'a, S, V> {
    system: &'a S,
    store: V,
    ledger: Ledger,
    counters: Counters,
    reached: EdgeSet,
    truncated: EdgeSet,
    frames: Vec<Frame>,
    /// The steps of all frames.
    steps: Vec<Step>,
    /// Outcomes made and not yet looked at, the next one last; their keys lie in `keys` in the same order.
    waiting: Vec<Range<usize>>,
    keys: Vec<u8>,
    /// Some state was not expanded because it lies too deep.
    cut: bool,
}

struct Frame {
    id: StateId,
    steps_from: usize,
    next_step: usize,
    waiting_from: usize,
}

impl<S: Successors, V: Visited> Run<'_, S, V> {
    fn walk(&mut self, watch: &mut Watch<'_>) -> Option<Stopped> {
        let state = match self.system.initial() {
            Ok(state) => state,
            Err(fault) => {
                self.ledger.fault(&fault, None, Vec::new);
                return None;
            }
        };
        let mut key = Vec::new();
        let mut answers = Vec::new();
        let mut batch = Batch::default();
        self.system.pack(&state, &mut key);
        // The state of the topmost frame, while it is at hand.
        let mut here = self.visit(&key, &mut answers);
        loop {
            if self.ledger.settled() {
                return Some(Stopped::Settled);
            }
            let Some(frame) = self.frames.last_mut() else { break };
            debug_assert!(frame.waiting_from <= self.waiting.len() && frame.next_step <= self.steps.len(), "I2");
            if self.waiting.len() > frame.waiting_from {
                let range = self.waiting.pop().expect("just looked");
                key.clear();
                key.extend_from_slice(&self.keys[range.clone()]);
                self.keys.truncate(range.start);
                if let Some(state) = self.visit(&key, &mut answers) {
                    here = Some(state);
                    let bytes = self.bytes();
                    let Run { store, ledger, counters, frames, .. } = self;
                    let frontier = frames.len() as u64;
                    let stop = watch.poll(&ledger.request, counters, frontier, store.room(), || bytes);
                    if stop.is_some() {
                        return stop;
                    }
                }
            } else if frame.next_step < self.steps.len() {
                let step = self.steps[frame.next_step];
                frame.next_step += 1;
                let id = frame.id;
                let state = here.take().unwrap_or_else(|| self.system.unpack(self.store.get(id)));
                batch.clear();
                self.system.fire(&state, &[step], &mut batch);
                here = Some(state);
                self.take_in(step, &batch);
            } else {
                self.steps.truncate(frame.steps_from);
                self.frames.pop();
                here = None;
            }
        }
        let max_depth = self.ledger.request.max_depth.unwrap_or(u32::MAX);
        self.cut.then_some(Stopped::Depth(max_depth))
    }

    /// Follows one transition. A new state gets a frame, and is returned unpacked.
    fn visit(&mut self, key: &[u8], answers: &mut Vec<(StateId, bool)>) -> Option<S::State> {
        self.store.find_or_put_all(key, std::slice::from_ref(&(0..key.len())), answers);
        let (id, new) = answers[0];
        self.counters.transitions += 1;
        if !new {
            return None;
        }
        self.counters.stored += 1;
        assert_eq!(self.counters.stored, self.store.len() as u64);
        let depth = self.frames.len() as u64;
        self.counters.depth = self.counters.depth.max(depth);
        let state = self.system.unpack(key);
        let mut offered = Vec::new();
        self.system.enabled(&state, &mut offered);
        let steps_from = self.steps.len();
        debug_assert_eq!(self.frames.is_empty(), id == StateId(0), "I1");
        self.frames.push(Frame { id, steps_from, next_step: steps_from, waiting_from: self.waiting.len() });
        if offered.is_empty() {
            if !self.system.may_end(&state) {
                let frames = &self.frames;
                self.ledger.note(Kind::EndState, None, None, || frames.iter().map(|f| f.id).collect());
            }
        } else if self.ledger.request.max_depth.is_some_and(|max| depth >= u64::from(max)) {
            self.cut = true;
        } else {
            self.steps.append(&mut offered);
        }
        Some(state)
    }

    /// Notes what happened on the way, and lays the outcomes by.
    fn take_in(&mut self, step: Step, batch: &Batch) {
        for outcome in &batch.outcomes {
            for fault in &outcome.faults {
                let frames = &self.frames;
                self.ledger.fault(fault, Some((step, outcome.path)), || frames.iter().map(|f| f.id).collect());
            }
            self.counters.atomic_steps += u64::from(outcome.atomic_steps);
        }
        for outcome in batch.outcomes.iter().rev() {
            if let Some(key) = batch.key(outcome) {
                let at = self.keys.len();
                self.keys.extend_from_slice(key);
                self.waiting.push(at..self.keys.len());
            }
        }
        for &(p, e) in &batch.reached {
            self.reached.put(p, e);
        }
        for &(p, e) in &batch.truncated {
            self.truncated.put(p, e);
        }
    }

    fn bytes(&self) -> u64 {
        let beside = self.frames.capacity() * size_of::<Frame>()
            + self.steps.capacity() * size_of::<Step>()
            + self.waiting.capacity() * size_of::<Range<usize>>()
            + self.keys.capacity();
        self.store.bytes() + beside as u64
    }
}
