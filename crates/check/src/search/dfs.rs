//! Depth-first, one path a thread.
//!
//! Fits    safety; any `Successors`, any `Visited`, lossy ones too. Traces are as long as the path was.
//!
//! # The argument
//!   A frame per state of the path: its steps, and how many of them were taken. The next outcome of the topmost
//!   frame goes to the store; if it is new it gets a frame of its own, otherwise it was reached before and
//!   whatever lies behind it is, or will be, seen from there. A frame without further outcomes is taken off.
//!   One thread's order is SPIN's: steps as offered, and the outcomes of an `atomic` in the order of its choices.
//!
//!   Several threads: each walks its own path. One that has nothing to do says so, and a thread that has gives it
//!   the steps not yet taken of its oldest frame that has any, with the steps that led there. A state is new for
//!   one thread only, and each of its steps is fired by the thread that holds it: so everything is still done
//!   once. The search is over when all threads have nothing to do.
//!
//!   By the path (`Request::proviso`), one thread: of the selections of a state that leaves out steps, one is taken that
//!   does not lead back to the path, or all steps are. So on every cycle nothing is left out of some state: of its
//!   states let v be visited first; the one before v is visited while v is on the path, and does not select the step to
//!   v alone. A state is known on the path by a hash, and one that is taken for such a state loses a selection, nothing
//!   else.
//!
//! # Where we leave the textbook
//!   D1 frames instead of recursion: depth costs memory we count, not thread stack. Steps and outstanding
//!      keys of all frames share one stack each.
//!   D2 a frame holds a name, not a state: returning to it loads and unpacks the state again. A lossy store
//!      cannot give a state back, so there the keys of the path are kept.
//!
//! # Invariants
//!   I1 the frames behind the prefix are a path from the initial state (trace.rs, T2, looks at each of its steps)
//!   I2 the topmost frame owns the tails of the shared stacks
//!   I3 a frame below `base` has neither steps nor outcomes left
//!
//! # Owed
//!   O1 counts and verdicts = breadth-first = oracle, for any number of threads   tests: random toy systems
//!
//! # Cost  each state expanded once; 32 bytes a frame, and a step and a key for every choice not yet taken.

use super::held::Held;
use super::watch::{News, Signals, Watch};
use super::{
    Found, Halt, Ledger, Request, SOME, Searched, Stopped, Tally, is_packed, look, no_start, place_of, thread,
};
use crate::counters::Counters;
use crate::observer::Observer;
use crate::verdict::Kind;
use spinor_model::fault::Fault;
use spinor_model::successors::{Batch, Step, Successors, Wish};
use spinor_store::{Full, StateId, Visited};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Transitions between two looks at what the other threads want.
const POLL: u32 = 64;
/// Polls between two looks at the clock.
const LOOK: u32 = 8;
/// Frames given away together: a part may turn out to be known already.
const GIFTS: usize = 8;
/// Frames looked at for one that has something to give.
const DEEPEST: usize = 1 << 12;
/// As many frames are looked at again in debug builds.
const MANY: usize = 256;
/// How long a thread without work waits before it looks whether the search is over.
const NAP: Duration = Duration::from_millis(20);

pub fn search<S: Successors, V: Visited>(
    system: &S,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    assert!(store.is_empty(), "a search starts with an empty store");
    assert!(!request.proviso.is_path() || request.jobs == 1, "the plan refuses it");
    assert!(!request.makes_up() && request.por_from == 0, "there are no levels: the plan refuses it");
    let mut root = Vec::new();
    match system.initial() {
        Ok(state) => system.pack(&state, &mut root),
        Err(fault) => return no_start(fault, request, system.batch()),
    }
    let run = Run {
        system,
        store,
        request,
        signals: Signals::new(request.max_time, &request.budget),
        ledger: Mutex::new((Ledger::new(request), Vec::new())),
        root,
        pool: Mutex::new(Pool { work: Vec::new(), n_idle: 0, n_threads: 1 }),
        wake: Condvar::new(),
        n_hungry: AtomicUsize::new(0),
    };
    let mut watch = Watch::new(observer);
    let mut all = run.walk_all(&mut watch);
    let (_, found) = run.ledger.into_inner().expect("nothing panics while it is held");
    let max_depth = request.max_depth.unwrap_or(u32::MAX);
    let stopped = run.signals.why().or(all.cut.then_some(Stopped::Depth(max_depth)));
    let Counters { stored, transitions, .. } = all.counters;
    let left = run.pool.into_inner().expect("nothing panics while it is held").work;
    assert!(run.signals.why().is_some() || left.is_empty(), "who is given work does it");
    assert!(run.signals.why().is_some() || stored == store.len(), "each state is new to one thread, once");
    assert!(!all.cut || request.max_depth.is_some(), "only what is too deep is cut");
    assert!(transitions >= stored, "each state is the end of a transition");
    let bytes = all.bytes;
    let Batch { reached, truncated, .. } = std::mem::take(&mut all.batch);
    let searched = Searched { found, tally: all.tally, counters: all.counters, reached, truncated, stopped, bytes };
    searched.check(request);
    searched
}

/// What all threads share.
struct Run<'a, S, V> {
    system: &'a S,
    store: &'a V,
    request: &'a Request,
    signals: Signals,
    ledger: Mutex<(Ledger, Vec<Found>)>,
    /// The key of the initial state.
    root: Vec<u8>,
    pool: Mutex<Pool>,
    wake: Condvar,
    /// Threads without work that no work lies ready for.
    n_hungry: AtomicUsize,
}

struct Pool {
    work: Vec<Work>,
    n_idle: usize,
    n_threads: usize,
}

/// Steps that somebody else may take.
struct Work {
    prefix: Arc<Prefix>,
    id: StateId,
    /// Of the state, if the store does not keep it.
    key: Vec<u8>,
    steps: Vec<Step>,
}

/// The steps from the initial state to a frame, in pieces that several paths share.
struct Prefix {
    before: Option<Arc<Prefix>>,
    steps: Held<(Step, u32)>,
    /// Steps in all.
    len: usize,
}

impl Prefix {
    fn steps(&self) -> Vec<(Step, u32)> {
        let mut pieces = vec![self];
        while let Some(before) = &pieces[pieces.len() - 1].before {
            pieces.push(before);
        }
        let steps: Vec<_> = pieces.iter().rev().flat_map(|p| p.steps.iter().copied()).collect();
        assert_eq!(steps.len(), self.len, "the pieces are the whole way");
        steps
    }
}

impl Drop for Prefix {
    /// A chain of pieces may be long: no recursion.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(mut piece) = before.and_then(Arc::into_inner) {
            before = piece.before.take();
        }
    }
}

/// What a thread has when it is done.
struct Total {
    counters: Counters,
    tally: Tally,
    batch: Batch,
    cut: bool,
    bytes: u64,
}

impl<'a, S: Successors, V: Visited> Run<'a, S, V> {
    fn walk_all(&self, watch: &mut Watch<'_>) -> Total {
        let jobs = self.request.jobs;
        std::thread::scope(|scope| {
            let mut first = Walker::new(self, Some(watch));
            if jobs > 1 {
                first.pause_at = self.request.alone;
            }
            let mut threads = Vec::new();
            let mut done = first.start().and_then(|()| first.walk());
            if done == Ok(Walked::Paused) {
                first.pause_at = u64::MAX;
                let work = || {
                    let mut walker = Walker::new(self, None);
                    let _ = walker.walk_on();
                    walker.total()
                };
                // Counted before they start, so that none thinks it is the last.
                self.lock().n_threads = jobs;
                threads.extend((1..jobs).filter_map(|_| thread().spawn_scoped(scope, work).ok()));
                self.lock().n_threads = 1 + threads.len();
                done = first.walk_on();
            }
            debug_assert!(done != Ok(Walked::Paused), "who paused went on");
            debug_assert!(done.is_ok() || self.signals.why().is_some(), "who stops says why");
            let mut all = first.total();
            for thread in threads {
                let total = thread.join().expect("a thread that searches");
                all.counters.add(&total.counters);
                all.tally.join(&total.tally);
                all.batch.reached.join(&total.batch.reached);
                all.batch.truncated.join(&total.batch.truncated);
                all.cut |= total.cut;
                all.bytes = all.bytes.max(total.bytes);
            }
            all
        })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Pool> {
        self.pool.lock().expect("nothing panics while it is held")
    }
}

struct Walker<'r, 'a, 'w, 'o, S: Successors, V: Visited> {
    run: &'r Run<'a, S, V>,
    /// The first thread talks to the observer.
    watch: Option<&'w mut Watch<'o>>,
    hand: V::Hand<'a>,
    /// The way to the first frame.
    prefix: Option<Arc<Prefix>>,
    frames: Held<Frame>,
    /// Frames below this one have nothing left (I3), and their steps are in the prefix.
    base: usize,
    /// The steps of all frames.
    steps: Held<Step>,
    /// Outcomes made and not yet looked at, the next one last; their keys lie in `keys` in the same order.
    waiting: Held<Waiting>,
    keys: Held<u8>,
    /// The keys of all frames, if the store does not keep them.
    path_keys: Held<u8>,
    /// Of the frames, if steps are selected by them: a hash each, and how often each is there.
    hashes: Held<u64>,
    on_path: HashMap<u64, u32>,
    /// The state of the topmost frame, if it is at hand.
    state: S::State,
    at_hand: bool,
    key: Vec<u8>,
    offered: Vec<Step>,
    bits: Vec<u64>,
    answers: Vec<(StateId, bool)>,
    batch: Batch,
    counters: Counters,
    tally: Tally,
    /// Some state was not expanded because it lies too deep.
    cut: bool,
    news: News,
    polls: u32,
    pause_at: u64,
}

fn hash(key: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(key);
    hasher.finish()
}

struct Frame {
    /// The state's name, or where its key begins in `path_keys`.
    id: StateId,
    steps_from: usize,
    waiting_from: u32,
    /// Steps taken, and steps in all.
    n_taken: u32,
    n_steps: u32,
    /// Which outcome of the step taken last the path goes on with.
    path: u32,
}

#[derive(Clone, Copy)]
struct Waiting {
    key_from: usize,
    path: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Walked {
    /// Nothing is left of this thread's part.
    Out,
    /// It is time to call others.
    Paused,
}

impl<'r, 'a, 'w, 'o, S: Successors, V: Visited> Walker<'r, 'a, 'w, 'o, S, V> {
    fn new(run: &'r Run<'a, S, V>, watch: Option<&'w mut Watch<'o>>) -> Self {
        let budget = &run.request.budget;
        Walker {
            run,
            watch,
            hand: run.store.hand(),
            prefix: None,
            frames: Held::new(budget),
            base: 0,
            steps: Held::new(budget),
            waiting: Held::new(budget),
            keys: Held::new(budget),
            path_keys: Held::new(budget),
            hashes: Held::new(budget),
            on_path: HashMap::new(),
            state: run.system.unpack(&run.root),
            at_hand: false,
            key: Vec::new(),
            offered: Vec::new(),
            bits: Vec::new(),
            answers: Vec::new(),
            batch: run.system.batch(),
            counters: Counters::default(),
            tally: Tally::default(),
            cut: false,
            news: News::default(),
            polls: 0,
            pause_at: u64::MAX,
        }
    }

    fn total(self) -> Total {
        let bytes = self.run.request.budget.used();
        Total { counters: self.counters, tally: self.tally, batch: self.batch, cut: self.cut, bytes }
    }

    fn start(&mut self) -> Result<(), Halt> {
        self.key.clone_from(&self.run.root);
        let visited = self.visit();
        self.or_stop(visited)
    }

    fn or_stop<T>(&self, result: Result<T, Full>) -> Result<T, Halt> {
        result.map_err(|full| self.run.signals.full(full))
    }

    /// The own part, then those of others.
    fn walk_on(&mut self) -> Result<Walked, Halt> {
        loop {
            self.walk()?;
            if !self.take_work()? {
                return Ok(Walked::Out);
            }
        }
    }

    fn walk(&mut self) -> Result<Walked, Halt> {
        while self.frames.len() > self.base {
            self.polls += 1;
            if self.polls.is_multiple_of(POLL) {
                self.poll()?;
            }
            if self.counters.stored > self.pause_at {
                return Ok(Walked::Paused);
            }
            let n_waiting = self.waiting.len();
            let n_frames = self.frames.len();
            let frame = &mut self.frames[n_frames - 1];
            debug_assert!(frame.waiting_from as usize <= n_waiting && frame.n_taken <= frame.n_steps, "I2");
            debug_assert!(frame.steps_from + frame.n_steps as usize <= self.steps.len(), "I2");
            if n_waiting > frame.waiting_from as usize {
                let Waiting { key_from, path } = self.waiting.pop().expect("just looked");
                self.frames[n_frames - 1].path = path;
                self.key.clear();
                self.key.extend_from_slice(&self.keys[key_from..]);
                self.keys.truncate(key_from);
                let visited = self.visit();
                self.or_stop(visited)?;
            } else if frame.n_taken < frame.n_steps {
                let step = self.steps[frame.steps_from + frame.n_taken as usize];
                frame.n_taken += 1;
                self.bring();
                self.batch.clear();
                self.run.system.fire(&mut self.state, &[step], &mut self.batch);
                debug_assert!(
                    !self.batch.outcomes.is_empty(),
                    "a step that can be taken leads somewhere, or to a fault"
                );
                debug_assert!(self.batch.outcomes.iter().all(|o| o.step == 0), "one step was fired");
                debug_assert!(self.batch.outcomes.is_sorted_by(|a, b| a.path < b.path), "each path has its number");
                let taken = self.take_in(step);
                self.or_stop(taken)?;
            } else {
                debug_assert_eq!(n_waiting, frame.waiting_from as usize, "I2");
                if !V::EXACT {
                    let key_from = frame.id.0 as usize;
                    debug_assert!(key_from < self.path_keys.len(), "I2");
                    self.path_keys.truncate(key_from);
                }
                self.steps.truncate(self.frames[n_frames - 1].steps_from);
                self.frames.pop();
                if let Some(hash) = self.hashes.pop()
                    && let Some(n) = self.on_path.remove(&hash).filter(|n| *n > 1)
                {
                    self.on_path.insert(hash, n - 1);
                }
                self.at_hand = false;
                debug_assert!(!self.run.request.proviso.is_path() || self.hashes.len() == self.frames.len(), "I2");
            }
        }
        self.clear();
        Ok(Walked::Out)
    }

    /// The state of the topmost frame is unpacked again if something else was done in between.
    #[inline]
    fn bring(&mut self) {
        if self.at_hand {
            return;
        }
        let id = self.frames[self.frames.len() - 1].id;
        if V::EXACT {
            self.run.store.load(&mut self.hand, id, &mut self.key);
            self.run.system.unpack_into(&self.key, &mut self.state);
        } else {
            self.run.system.unpack_into(&self.path_keys[id.0 as usize..], &mut self.state);
        }
        self.at_hand = true;
    }

    /// Follows one transition, to `self.key`. A new state gets a frame and is at hand.
    fn visit(&mut self) -> Result<(), Full> {
        let all = 0..self.key.len();
        let all = std::slice::from_ref(&all);
        self.run.store.offer(&mut self.hand, &self.key, all)?;
        self.run.store.settle(&mut self.hand, &self.key, all, &mut self.answers)?;
        debug_assert_eq!(self.answers.len(), 1, "every key has an answer");
        let (id, new) = self.answers[0];
        self.counters.transitions += 1;
        self.news.transitions += 1;
        if !new {
            return Ok(());
        }
        self.counters.stored += 1;
        self.news.stored += 1;
        let depth = self.prefix.as_ref().map_or(0, |p| p.len) + self.frames.len() - self.base;
        self.counters.depth = self.counters.depth.max(depth as u64);
        let deepest = self.run.request.max_depth.map_or(usize::MAX, |max| max as usize);
        debug_assert!(depth <= deepest, "what is too deep has no steps");
        if V::EXACT {
            let own = cfg!(debug_assertions).then(|| hash(&self.key));
            // What is made from this state differs little from it.
            self.run.store.load(&mut self.hand, id, &mut self.key);
            debug_assert!(own.is_none_or(|own| own == hash(&self.key)), "a name is its key's");
        }
        self.run.system.unpack_into(&self.key, &mut self.state);
        let looks_again = self.counters.stored % SOME == 1;
        debug_assert!(!looks_again || is_packed(self.run.system, &self.state, &self.key), "a state has one key");
        self.at_hand = true;
        let seen = match self.run.request.looked.is_empty() {
            true => Vec::new(),
            false => look(self.run.system, &mut self.state, self.run.request, &mut self.bits),
        };
        match self.run.request.proviso.is_path() {
            false => self.run.system.enabled(&mut self.state, &mut self.offered),
            true => self.select()?,
        }
        let id = if V::EXACT { id } else { StateId(self.path_keys.len() as u64) };
        if !V::EXACT {
            self.path_keys.extend(&self.key)?;
        }
        let ends = self.offered.is_empty();
        if !ends && self.run.request.max_depth.is_some_and(|max| depth >= max as usize) {
            self.cut = true;
            self.offered.clear();
        }
        self.push_frame(id)?;
        seen.into_iter().for_each(|kind| self.see(kind, None, None));
        if ends && !self.run.system.may_end(&self.state) {
            self.see(Kind::EndState, None, None);
        }
        Ok(())
    }

    /// Steps of the state of `key` such that none leads back to the path; all, if there is no such selection.
    fn select(&mut self) -> Result<(), Full> {
        let own = hash(&self.key);
        let mut attempt = 1;
        loop {
            self.run.system.wish(&mut self.state, Wish { attempt: Some(attempt), waited: None });
            self.run.system.enabled(&mut self.state, &mut self.offered);
            if attempt == 0 || !self.run.system.leaves_out(&self.state) {
                break;
            }
            self.batch.clear();
            self.run.system.fire(&mut self.state, &self.offered, &mut self.batch);
            let on = |hash: u64| hash == own || self.on_path.contains_key(&hash);
            if !self.batch.outcomes.iter().filter_map(|o| self.batch.key(o)).any(|key| on(hash(key))) {
                break;
            }
            attempt = self.run.request.proviso.after(attempt);
        }
        debug_assert!(attempt != 0 || !self.run.system.leaves_out(&self.state), "nothing is left out of all steps");
        *self.on_path.entry(own).or_default() += 1;
        self.hashes.push(own)
    }

    /// A frame with the steps in `offered`.
    fn push_frame(&mut self, id: StateId) -> Result<(), Full> {
        let steps_from = self.steps.len();
        self.steps.extend(&self.offered)?;
        let waiting_from = u32::try_from(self.waiting.len()).expect("fewer outcomes wait than memory has room for");
        let n_steps = self.offered.len() as u32;
        self.frames.push(Frame { id, steps_from, waiting_from, n_taken: 0, n_steps, path: 0 })
    }

    /// Notes what happened on the way, and lays the outcomes by.
    fn take_in(&mut self, step: Step) -> Result<(), Full> {
        for n in 0..self.batch.faults.len() {
            let (outcome, fault) = self.batch.faults[n].clone();
            let path = self.batch.outcomes[outcome].path;
            self.see(Kind::of(&fault.kind), Some((step, path)), Some(fault));
        }
        for outcome in self.batch.outcomes.iter().rev() {
            self.counters.atomic_steps += u64::from(outcome.atomic_steps);
            if let Some(key) = self.batch.key(outcome) {
                self.waiting.push(Waiting { key_from: self.keys.len(), path: outcome.path })?;
                self.keys.extend(key)?;
            }
        }
        Ok(())
    }

    #[cold]
    fn see(&mut self, kind: Kind, last: Option<(Step, u32)>, fault: Option<Fault>) {
        self.tally.count(kind);
        let mut ledger = self.run.ledger.lock().expect("nothing panics while it is held");
        if ledger.0.take(kind, fault.as_ref().and_then(place_of)) {
            let mut steps = self.prefix.as_ref().map_or(Vec::new(), |p| p.steps());
            steps.extend(self.taken(self.frames.len() - 1));
            steps.extend(last);
            let depth = self.prefix.as_ref().map_or(0, |p| p.len) + self.frames.len() - 1 - self.base;
            assert_eq!(steps.len(), depth + usize::from(last.is_some()), "I1: a step for each frame but the last");
            debug_assert_eq!(last.is_some(), fault.is_some(), "what a step shows is a fault");
            ledger.1.push(Found { kind, steps, fault });
            if ledger.0.settled() {
                self.run.signals.stop(Stopped::Settled);
            }
        }
        let heeds = |kind| ledger.0.heeds(kind, &self.tally);
        let (assertions, promises) = (heeds(Kind::Assertion), heeds(Kind::Promise));
        self.run.system.heed(&mut self.state, assertions, promises);
    }

    /// The steps from the first frame behind the prefix to frame `to`.
    fn taken(&self, to: usize) -> impl Iterator<Item = (Step, u32)> {
        self.frames[self.base..to].iter().map(|f| {
            debug_assert!(f.n_taken > 0, "I1: a frame with another above it has taken a step");
            (self.steps[f.steps_from + f.n_taken as usize - 1], f.path)
        })
    }

    /// I2, I3
    fn check_stacks(&self) -> bool {
        let (frames, base) = (&self.frames[..], self.base);
        let owns = |pair: &[Frame]| {
            let (below, above) = (&pair[0], &pair[1]);
            below.steps_from + below.n_steps as usize <= above.steps_from
                && below.waiting_from <= above.waiting_from
                && (V::EXACT || below.id < above.id)
        };
        let ended = |frame: &Frame| frame.n_taken == frame.n_steps && frame.waiting_from == 0;
        let way = |pair: &[Waiting]| pair[0].key_from < pair[1].key_from;
        let n_on_path = self.on_path.values().sum::<u32>() as usize;
        assert!(frames.windows(2).all(owns), "I2: each frame owns a part of the stacks, above that of the one below");
        assert!(frames[base..].iter().rev().skip(1).all(|f| f.n_taken > 0), "I1: who has a frame above took a step");
        assert!(frames[..base].iter().all(ended), "I3");
        assert!(self.waiting.windows(2).all(way), "I2: the keys lie in the order of those that wait");
        assert!(self.waiting.last().is_none_or(|last| last.key_from < self.keys.len()), "I2: who waits has a key");
        assert!(self.hashes.is_empty() || self.hashes.len() == frames.len(), "I2: a hash for each frame, or none");
        assert_eq!(self.hashes.len(), n_on_path, "who is on the path has a frame");
        true
    }

    #[inline]
    fn poll(&mut self) -> Result<(), Halt> {
        debug_assert!(self.frames.len() > MANY || self.check_stacks());
        self.run.store.rest(&mut self.hand);
        if self.run.n_hungry.load(Relaxed) > 0 {
            // Without room for it, the work stays here.
            let _ = self.give_work();
        }
        if self.polls.is_multiple_of(POLL * LOOK) {
            self.run.signals.at_depth(self.counters.depth);
            self.run.signals.look(&mut self.news)?;
            if let Some(watch) = &mut self.watch {
                watch.tell(&self.run.signals, Some((self.frames.len() - self.base) as u64))?;
            }
        }
        self.run.signals.go_on()
    }

    /// Nothing is left: the stacks begin anew.
    fn clear(&mut self) {
        debug_assert!(self.waiting.is_empty() && self.keys.is_empty(), "I2");
        debug_assert!(self.hashes.is_empty() && self.on_path.is_empty(), "who is on the path has a frame");
        self.frames.truncate(0);
        self.steps.truncate(0);
        self.path_keys.truncate(0);
        self.base = 0;
        self.prefix = None;
        self.at_hand = false;
    }

    /// Lays what is left of the oldest frames that have steps left into the pool.
    fn give_work(&mut self) -> Result<(), Full> {
        let mut gifts = Vec::new();
        while gifts.len() < GIFTS
            && let Some(work) = self.oldest()?
        {
            gifts.push(work);
        }
        if !gifts.is_empty() {
            let mut pool = self.run.lock();
            // The oldest is taken first.
            pool.work.extend(gifts.into_iter().rev());
            self.run.n_hungry.store(pool.n_idle.saturating_sub(pool.work.len()), Relaxed);
            self.run.wake.notify_all();
        }
        Ok(())
    }

    fn oldest(&mut self) -> Result<Option<Work>, Full> {
        let left = |f: &Frame| f.n_taken < f.n_steps;
        // The topmost frame is what this thread lives on.
        let below = self.base..self.frames.len().saturating_sub(1);
        let Some(n) = below.take(DEEPEST).find(|n| left(&self.frames[*n])) else { return Ok(None) };
        let mut steps = Held::new(&self.run.request.budget);
        for step in self.taken(n) {
            steps.push(step)?;
        }
        let len = self.prefix.as_ref().map_or(0, |p| p.len) + steps.len();
        debug_assert_eq!(steps.len(), n - self.base, "I1");
        let prefix = Arc::new(Prefix { before: self.prefix.clone(), steps, len });
        let frame = &mut self.frames[n];
        let from = frame.steps_from + frame.n_taken as usize;
        let to = frame.steps_from + frame.n_steps as usize;
        frame.n_steps = frame.n_taken;
        let id = frame.id;
        let key = if V::EXACT {
            Vec::new()
        } else {
            let to = self.frames[n + 1].id.0 as usize;
            self.path_keys[id.0 as usize..to].to_vec()
        };
        let work = Work { prefix: prefix.clone(), id, key, steps: self.steps[from..to].to_vec() };
        // The frames below have no steps left. Unless outcomes wait there, they are only a way (I3).
        if self.frames[n].waiting_from as usize == 0 {
            debug_assert!(!self.frames[self.base..n].iter().any(left), "I3");
            debug_assert!(
                self.base <= n && n + 1 < self.frames.len(),
                "I3: what this thread lives on is not given away"
            );
            self.base = n;
            self.prefix = Some(prefix);
        }
        Ok(Some(work))
    }

    /// Waits for work. `false`: nobody has any, and nobody will.
    fn take_work(&mut self) -> Result<bool, Halt> {
        let run = self.run;
        let mut pool = run.lock();
        pool.n_idle += 1;
        let mut holds = true;
        let work = loop {
            if let Some(work) = pool.work.pop() {
                pool.n_idle -= 1;
                run.n_hungry.store(pool.n_idle.saturating_sub(pool.work.len()), Relaxed);
                break work;
            }
            debug_assert!(pool.n_idle <= pool.n_threads, "a thread is idle once");
            if pool.n_idle == pool.n_threads {
                run.wake.notify_all();
                return Ok(false);
            }
            if std::mem::take(&mut holds) {
                // A hand that waits may keep the others from growing the tables.
                self.hand = run.store.hand();
            }
            run.n_hungry.store(pool.n_idle, Relaxed);
            pool = run.wake.wait_timeout(pool, NAP).expect("nothing panics while it is held").0;
            // A thread that stops early never becomes idle.
            run.signals.look(&mut self.news)?;
            if let Some(watch) = &mut self.watch {
                watch.tell(&run.signals, Some(0))?;
            }
        };
        drop(pool);
        let Work { prefix, id, key, steps } = work;
        assert!(self.frames.is_empty() && self.base == 0, "who takes work has none");
        assert!(
            !steps.is_empty() && key.is_empty() == V::EXACT,
            "who gives work has steps left, and says of which state"
        );
        self.prefix = Some(prefix);
        self.offered = steps;
        let id = if V::EXACT { id } else { StateId(0) };
        let pushed = self.path_keys.extend(&key).and_then(|()| self.push_frame(id));
        self.or_stop(pushed)?;
        Ok(true)
    }
}
