//! Cycles without progress, level by level, depth-first by several threads.
//!
//! Source  [FaragoSchmitt] listing 5 in its form with two queues, one read and one written; several threads as in [LF13]
//!         Laarman, Farago: Improved on-the-fly livelock detection.
//! Fits    no fairness; any exact `Visited`.
//!
//! # The argument
//!   Level 0 begins with the initial state. Moves without progress lead on inside a level; what makes progress is laid aside
//!   and begins the next level, when all threads are through with this one. So a state is met in its level (see the
//!   module), whoever expands what, and the first level that has a cycle without progress is the least one.
//!   Where steps make progress, it is the state *before* the step that is laid aside, and expanded again in the next level:
//!   the state after it may still be met without progress in this one.
//!
//!   Inside a level every thread goes depth-first from every state where the level begins, each in an order of its own. What
//!   is on its path is *cyan* for it; what it leaves is *left*, for all threads, and entered by none of them any more. A
//!   thread that meets its own path has a cycle (states of a level are met without progress, and a progress state where a
//!   path begins is cyan for nobody).
//!   A state is left after its successors without progress were: each was left before, or entered and left meanwhile, or it
//!   was cyan, and the search was over. So of all states on cycles without progress in this level none can be the first
//!   to be left: its successor on the cycle would be left before it, or be itself. And what can be reached without progress
//!   from a state that is left, is left: nobody need go on at one that another thread has left meanwhile.
//!
//! # Where we leave the papers
//!   D1 frames instead of recursion.
//!   D2 all successors of a state go to the store at once; whether one was entered or laid aside is on its card.
//!
//! # Invariants
//!   I1 a card is cyan for a thread while its state is on the thread's path, unless it is a progress state
//!   I2 a state is laid aside once: by the thread that marks its card
//!   I3 what lies in `todo` from the uppermost frame's place on are its moves
//!
//! # Owed
//!   O1 verdict and level = oracle, for any number of threads    tests: random graphs, random systems, random models
//!   O2 the run is one, and has as little progress               tests: the same
//!
//! # Cost  each state expanded once, more often if several threads are below it; where steps make progress also what has
//!   such a step. 43 to 54 bytes a state for the cards, 16 for one on the path.

use super::walk::{Entry, Walk};
use super::{Ground, Out, Searched, Which};
use crate::counters::Counters;
use crate::cycles::Request;
use crate::observer::Observer;
use crate::search::held::Held;
use crate::search::team::{self, Team};
use crate::search::watch::{News, Signals, Watch};
use crate::search::{Halt, Stopped};
use spinor_store::{Cards, CardsHand, Full, Laid, StateId, Visited};
use std::collections::HashSet;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::{Mutex, MutexGuard};

/// The words of a card: what all threads know of it, and for which it is cyan.
const KNOWN: usize = 0;
const CYAN: usize = 1;

const LEFT: u64 = 1;
const LAID: u64 = 2;

/// States between two looks at the clock.
const LOOK: u64 = 256;
/// A hand that does not rest keeps the others from growing what it holds.
const REST: u64 = 32;
/// Sources that a thread takes at once.
const SOURCES: usize = 16;
/// As many entries are looked at again in debug builds.
const FEW: usize = 64;
/// A level of so many states is one thread's work.
pub const ALONE: u64 = 1 << 11;
const MOST: usize = 64;
const _: () = assert!(MOST <= u64::BITS as usize, "a thread is a bit of a word");

pub fn search<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    search_from(ground, store, request, ALONE, observer)
}

/// The same, with levels of another size for one thread alone.
pub fn search_from<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    request: &Request,
    alone: u64,
    observer: &mut dyn Observer,
) -> Searched {
    assert!(V::EXACT, "a state is expanded from its name");
    let signals = Signals::new(request.max_time, &request.budget);
    let cards = match Cards::new(&request.budget) {
        Ok(cards) => cards,
        Err(full) => return Searched::none(full, &request.budget),
    };
    let mut searched = Searched { found: None, counters: Counters::default(), stopped: None, bytes: 0 };
    let run = Run { ground, store, cards: &cards, request, signals };
    let jobs = request.jobs.clamp(1, MOST);
    let workers: Vec<Mutex<Option<Worker>>> = (0..jobs).map(|_| Mutex::default()).collect();
    let part = |me: usize, seat: &mut Seat<'_, G, V>, work: &Work| {
        let _ = run.worker(&mut lock(&workers[me]), me).take_part(&run, work, seat, None);
    };
    let sit = || run.sit();
    let mut entries = Held::new(&request.budget);
    let mut watch = Watch::new(observer);
    let mut lead = Lead { run: &run, workers: &workers, alone, seat: run.sit(), watch: &mut watch };
    let through = team::gather(jobs, sit, part, |team| lead.all(team, &mut entries));
    workers.iter().for_each(|w| lock(w).iter().for_each(|w| searched.counters.add(&w.counters)));
    let met = workers.iter().find_map(|w| lock(w).as_mut().and_then(|w| w.met.take()));
    let cut = workers.iter().any(|w| lock(w).as_ref().is_some_and(|w| w.cut));
    drop(workers);
    searched.bytes = request.budget.used();
    let Some(Met { path, at, entry }) = met else {
        let cut = cut.then(|| Stopped::Depth(request.max_depth.unwrap_or(u32::MAX)));
        searched.stopped = run.signals.why().or(cut);
        assert!(through.is_ok() || searched.stopped.is_some(), "who stops says why");
        let n_left = searched.counters.stored;
        assert!(searched.stopped.is_some() || n_left == store.len(), "each state is left, by one thread");
        return searched;
    };
    // What is stored from here on is not the search's.
    searched.counters.stored = store.len();
    let mut walk = Walk::new(ground, store, request, observer);
    match walk.run(&entries, entry, &path, at) {
        Ok(found) => searched.found = Some(found),
        Err(Halt) => searched.stopped = walk.pulse.why(),
    }
    searched
}

/// What all threads share.
struct Run<'a, G, V> {
    ground: &'a G,
    store: &'a V,
    cards: &'a Cards,
    request: &'a Request,
    signals: Signals,
}

impl<'a, G: Ground, V: Visited> Run<'a, G, V> {
    fn sit(&self) -> Seat<'a, G, V> {
        Seat { hand: self.store.hand(), cards: self.cards.hand(), desk: self.ground.desk() }
    }

    fn worker<'w>(&self, worker: &'w mut Option<Worker>, me: usize) -> &'w mut Worker {
        worker.get_or_insert_with(|| Worker::new(self.ground, self.request, me))
    }
}

struct Seat<'s, G: Ground, V: Visited + 's> {
    hand: V::Hand<'s>,
    cards: CardsHand<'s>,
    desk: G::Desk,
}

/// A state where a level begins, and the entry it comes from.
#[derive(Clone, Copy)]
struct Start {
    state: u32,
    entry: u32,
}

/// What the threads do together; what is taken along is given back.
struct Work {
    what: What,
    entries: Held<Entry>,
    starts: Held<Start>,
    /// States that may be entered.
    limit: u64,
    n_threads: usize,
}

enum What {
    /// Find the states after the steps that make progress, of the entries from the one that is next on.
    Sources(AtomicUsize),
    /// Search from the starts.
    Search,
}

fn lock(worker: &Mutex<Option<Worker>>) -> MutexGuard<'_, Option<Worker>> {
    worker.lock().expect("who panics ends the search")
}

/// The thread that has the whole in view.
struct Lead<'r, 'a, 'w, 'o, G: Ground, V: Visited> {
    run: &'r Run<'a, G, V>,
    workers: &'r [Mutex<Option<Worker>>],
    alone: u64,
    seat: Seat<'a, G, V>,
    watch: &'w mut Watch<'o>,
}

impl<G: Ground, V: Visited> Lead<'_, '_, '_, '_, G, V> {
    fn all(&mut self, team: &mut Team<'_, '_, Work>, entries: &mut Held<Entry>) -> Result<(), Halt> {
        let Run { ground, store, request, .. } = *self.run;
        let full = |f| self.run.signals.full(f);
        let mut key = Vec::new();
        if !ground.initial(&mut self.seat.desk, &mut key) {
            return Ok(());
        }
        let put = store.put(&mut self.seat.hand, &key);
        store.rest(&mut self.seat.hand);
        let (id, _) = put.map_err(full)?;
        let state = self.seat.cards.number(id).map_err(full)?;
        if ground.bring(&mut self.seat.desk, &key) {
            self.seat.cards.laid().card(state)[KNOWN].fetch_or(LAID, SeqCst); // I2
        }
        self.run.worker(&mut lock(&self.workers[0]), 0).counters.transitions = 1;
        entries.push(Entry { id, parent: 0, from: id }).map_err(full)?;
        let mut starts = Held::new(&request.budget);
        starts.push(Start { state, entry: 0 }).map_err(full)?;
        assert!(entries.len() == 1, "the first entry is where runs begin");
        let mut large = self.alone == 0;
        // Where the entries of this level begin.
        let mut last_from = 0;
        loop {
            let before = self.n_left();
            let limit = if large || self.workers.len() == 1 { u64::MAX } else { self.alone };
            starts = self.share(team, What::Search, entries, starts, limit)?;
            if limit < u64::MAX && self.is_tired() {
                starts = self.share(team, What::Search, entries, starts, u64::MAX)?;
            }
            debug_assert!(self.are_left(&starts), "a level is over when all is left that it began with");
            large = self.alone == 0 || self.n_left() - before > self.alone;
            let from = entries.len();
            for worker in self.workers {
                if let Some(worker) = &mut *lock(worker) {
                    entries.extend(&worker.later).map_err(full)?;
                    worker.later.truncate(0);
                }
            }
            debug_assert!(self.are_laid_once(&entries[from..]), "I2");
            let of_level = |n: u32| (last_from..from).contains(&(n as usize));
            debug_assert!(
                entries[from..].iter().all(|e| of_level(e.parent)),
                "a level is laid aside by the one before"
            );
            last_from = from;
            if entries.len() == from {
                return Ok(());
            }
            starts.truncate(0);
            if ground.by_steps() {
                let limit = if large { u64::MAX } else { self.alone };
                starts = self.share(team, What::Sources(AtomicUsize::new(from)), entries, starts, limit)?;
                for worker in self.workers {
                    if let Some(worker) = &mut *lock(worker) {
                        starts.extend(&worker.starts).map_err(full)?;
                        worker.starts.truncate(0);
                    }
                }
            } else {
                for n in from..entries.len() {
                    let state = self.seat.cards.number(entries[n].id).map_err(full)?;
                    starts.push(Start { state, entry: n as u32 }).map_err(full)?;
                }
            }
            let has_start = |n: usize| starts.iter().any(|start| start.entry as usize == n);
            debug_assert!(
                entries.len() - from > FEW || (from..entries.len()).all(has_start),
                "each entry begins something"
            );
            debug_assert!(starts.iter().all(|start| start.entry as usize >= from), "and nothing else does");
        }
    }

    /// States left so far.
    fn n_left(&self) -> u64 {
        self.workers.iter().map(|w| lock(w).as_ref().map_or(0, |w| w.counters.stored)).sum()
    }

    fn are_left(&mut self, starts: &[Start]) -> bool {
        let laid = self.seat.cards.laid();
        let is_nobodys = |start: &Start| laid.card(start.state)[CYAN].load(Relaxed) == 0;
        assert!(starts.iter().all(is_nobodys), "I1: between two levels nobody has a path");
        let are = starts.iter().all(|start| knows(laid, start.state, LEFT));
        self.seat.cards.rest();
        are
    }

    /// What was laid aside in a level, after the threads have met.
    fn are_laid_once(&mut self, entries: &[Entry]) -> bool {
        let mut seen = HashSet::new();
        let cards = &mut self.seat.cards;
        let once = |entry: &Entry| {
            let number = cards.number(entry.id);
            seen.insert(entry.id) && number.is_ok_and(|number| knows(cards.laid(), number, LAID))
        };
        let are = entries.iter().all(once);
        cards.rest();
        are
    }

    fn is_tired(&self) -> bool {
        lock(&self.workers[0]).as_ref().is_some_and(|w| w.tired)
    }

    /// All threads do it, or, with a limit, this one alone.
    fn share(
        &mut self,
        team: &mut Team<'_, '_, Work>,
        what: What,
        entries: &mut Held<Entry>,
        starts: Held<Start>,
        limit: u64,
    ) -> Result<Held<Start>, Halt> {
        let n_threads = if limit < u64::MAX { 1 } else { self.workers.len() };
        let taken = std::mem::replace(entries, Held::new(&self.run.request.budget));
        let work = Work { what, entries: taken, starts, limit, n_threads };
        let Lead { run, workers, seat, watch, .. } = self;
        let mut mine = |work: &Work| run.worker(&mut lock(&workers[0]), 0).take_part(run, work, seat, Some(watch));
        let work = if n_threads == 1 {
            let _ = mine(&work);
            work
        } else {
            team.share(n_threads, work, |work| {
                let _ = mine(work);
            })
        };
        *entries = work.entries;
        self.run.signals.go_on()?;
        Ok(work.starts)
    }
}

/// A thread has met its own path.
struct Met {
    path: Vec<StateId>,
    at: usize,
    entry: u32,
}

#[derive(Clone, Copy)]
struct Frame {
    state: u32,
    n_moves: u32,
    /// Where its moves still to be made begin.
    todo: usize,
}

/// What a thread keeps from level to level. No cache line of it is another's.
#[repr(align(128))]
struct Worker {
    me: usize,
    frames: Held<Frame>,
    todo: Held<u32>,
    /// What begins the next level.
    later: Held<Entry>,
    starts: Held<Start>,
    counters: Counters,
    out: Out,
    answers: Vec<(StateId, bool)>,
    numbers: Vec<u32>,
    key: Vec<u8>,
    /// Some state was not expanded because it lies too deep.
    cut: bool,
    /// It was alone, and there is more to do than it may.
    tired: bool,
    met: Option<Met>,
    news: News,
    /// States entered since the work began.
    entered: u64,
}

impl Worker {
    fn new<G: Ground>(ground: &G, request: &Request, me: usize) -> Worker {
        let budget = &request.budget;
        Worker {
            me,
            frames: Held::new(budget),
            todo: Held::new(budget),
            later: Held::new(budget),
            starts: Held::new(budget),
            counters: Counters::default(),
            out: ground.out(),
            answers: Vec::new(),
            numbers: Vec::new(),
            key: Vec::new(),
            cut: false,
            tired: false,
            met: None,
            news: News::default(),
            entered: 0,
        }
    }

    fn bit(&self) -> u64 {
        1 << self.me
    }

    /// A thread's share of the work.
    fn take_part<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        work: &Work,
        seat: &mut Seat<'_, G, V>,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        (self.entered, self.tired) = (0, false);
        let done = match &work.what {
            What::Sources(next) => self.sources(run, work, next, seat),
            What::Search => self.search(run, work, seat, &mut watch),
        };
        // A hand that waits for others would keep them from growing the tables.
        run.store.rest(&mut seat.hand);
        seat.cards.rest();
        done
    }

    /// The states after the steps that make progress.
    fn sources<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        work: &Work,
        next: &AtomicUsize,
        seat: &mut Seat<'_, G, V>,
    ) -> Result<(), Halt> {
        let full = |f| run.signals.full(f);
        loop {
            let from = next.fetch_add(SOURCES, Relaxed);
            if from >= work.entries.len() {
                return run.signals.go_on();
            }
            for n in from..work.entries.len().min(from + SOURCES) {
                self.bring(run, seat, work.entries[n].id);
                self.moves(run, seat, Which::Progress)?;
                debug_assert!(!self.numbers.is_empty(), "an entry has steps that make progress");
                self.counters.transitions += self.answers.len() as u64;
                for at in 0..self.numbers.len() {
                    self.starts.push(Start { state: self.numbers[at], entry: n as u32 }).map_err(full)?;
                }
            }
            seat.cards.rest();
            run.signals.go_on()?;
        }
    }

    /// Brings a state. Whether it is a progress state.
    #[inline]
    fn bring<G: Ground, V: Visited>(&mut self, run: &Run<'_, G, V>, seat: &mut Seat<'_, G, V>, id: StateId) -> bool {
        run.store.load(&mut seat.hand, id, &mut self.key);
        let progress = run.ground.bring(&mut seat.desk, &self.key);
        debug_assert!(!progress || !run.ground.by_steps(), "where steps make progress no state does");
        progress
    }

    /// The moves of the state that was brought last, and the cards of the states after them.
    #[inline]
    fn moves<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        seat: &mut Seat<'_, G, V>,
        which: Which,
    ) -> Result<(), Halt> {
        self.out.clear();
        run.ground.moves(&mut seat.desk, which, &mut self.out);
        let Out { batch, keys, .. } = &self.out;
        let put = (|| -> Result<(), Full> {
            run.store.offer(&mut seat.hand, &batch.keys, keys)?;
            run.store.settle(&mut seat.hand, &batch.keys, keys, &mut self.answers)?;
            // Asking for numbers may mean waiting for threads that wait for the store.
            run.store.rest(&mut seat.hand);
            seat.cards.numbers(&self.answers, &mut self.numbers)
        })();
        debug_assert!(put.is_err() || self.numbers.len() == self.out.keys.len(), "a card for each move");
        put.map_err(|f| run.signals.full(f))
    }

    /// From every start, in an order of its own.
    fn search<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        work: &Work,
        seat: &mut Seat<'_, G, V>,
        watch: &mut Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        debug_assert!(self.frames.is_empty() && self.todo.is_empty(), "I1: nothing is left of another path");
        debug_assert!(self.me < work.n_threads, "who is called has a part");
        let n = work.starts.len();
        let first = n * self.me / work.n_threads;
        for at in (first..n).chain(0..first) {
            let Start { state, entry } = work.starts[at];
            if knows(seat.cards.laid(), state, LEFT) {
                continue;
            }
            let begun = Begun { start: seat.cards.laid().name(state), entry };
            let done = self.from(run, seat, state, begun, work.limit, watch);
            debug_assert!(self.tired || done.is_err() || self.frames.is_empty(), "a path is walked to its end");
            debug_assert!(!self.tired || work.n_threads == 1, "only who is alone stops for others");
            if self.tired || done.is_err() {
                let laid = seat.cards.laid();
                for frame in self.frames.iter() {
                    laid.card(frame.state)[CYAN].fetch_and(!self.bit(), Relaxed);
                }
                self.frames.truncate(0);
                self.todo.truncate(0);
                return done;
            }
        }
        Ok(())
    }

    fn from<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        seat: &mut Seat<'_, G, V>,
        state: u32,
        begun: Begun,
        limit: u64,
        watch: &mut Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        let max_depth = run.request.max_depth.map_or(u64::MAX, u64::from);
        // Where steps make progress, what is laid aside is entered as well.
        let closed = if run.ground.by_steps() { LEFT } else { LEFT | LAID };
        let progress = self.bring(run, seat, begun.start);
        debug_assert!(self.frames.is_empty() && self.todo.is_empty(), "I3");
        self.enter(run, seat, state, progress, begun, watch)?;
        while let Some(&Frame { state, n_moves, todo }) = self.frames.last() {
            let laid = seat.cards.laid();
            debug_assert!((todo..=todo + n_moves as usize).contains(&self.todo.len()), "I3");
            if self.todo.len() > todo && knows(laid, state, LEFT) {
                self.todo.truncate(todo);
            }
            let Some(to) = (self.todo.len() > todo).then(|| self.todo.pop()).flatten() else {
                if laid.card(state)[KNOWN].fetch_or(LEFT, SeqCst) & LEFT == 0 {
                    self.counters.stored += 1;
                    self.counters.transitions += u64::from(n_moves);
                }
                let before = laid.card(state)[CYAN].fetch_and(!self.bit(), Relaxed);
                // Where a path begins there may be a progress state.
                debug_assert!(before & self.bit() != 0 || self.frames.len() == 1, "I1");
                self.frames.pop();
                continue;
            };
            if laid.card(to)[CYAN].load(Relaxed) & self.bit() != 0 {
                let at = self.frames.iter().position(|f| f.state == to).expect("I1");
                let path = self.frames.iter().map(|f| laid.name(f.state)).collect();
                self.met = Some(Met { path, at, entry: begun.entry });
                return Err(run.signals.stop(Stopped::Settled));
            }
            if knows(laid, to, closed) {
                continue;
            }
            let id = laid.name(to);
            let progress = self.bring(run, seat, id);
            if !progress && self.frames.len() as u64 <= max_depth && self.entered < limit {
                self.enter(run, seat, to, false, begun, watch)?;
                continue;
            }
            // Asking for cards may mean waiting for threads that wait for the store.
            run.store.rest(&mut seat.hand);
            if progress {
                self.lay(run, seat, to, begun)?;
            } else if self.entered < limit {
                self.cut = true;
            } else {
                self.tired = true;
                return Ok(());
            }
        }
        Ok(())
    }

    /// I2
    fn lay<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        seat: &mut Seat<'_, G, V>,
        state: u32,
        begun: Begun,
    ) -> Result<(), Halt> {
        let laid = seat.cards.laid();
        if laid.card(state)[KNOWN].fetch_or(LAID, SeqCst) & LAID == 0 {
            let entry = Entry { id: laid.name(state), parent: begun.entry, from: begun.start };
            self.later.push(entry).map_err(|f| run.signals.full(f))?;
        }
        Ok(())
    }

    /// A frame for the state that was brought last.
    #[inline]
    fn enter<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        seat: &mut Seat<'_, G, V>,
        state: u32,
        progress: bool,
        begun: Begun,
        watch: &mut Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        self.moves(run, seat, Which::Still)?;
        if self.out.more {
            self.lay(run, seat, state, begun)?;
        }
        let laid = seat.cards.laid();
        if !progress {
            let before = laid.card(state)[CYAN].fetch_or(self.bit(), Relaxed);
            debug_assert!(before & self.bit() == 0, "I1");
        }
        debug_assert!(!progress || self.frames.is_empty(), "I1: a progress state is the first of a path");
        let n_moves = self.numbers.len();
        let frame = Frame { state, n_moves: n_moves as u32, todo: self.todo.len() };
        // Each thread turns them in another way, so that they part.
        let turn = if self.me == 0 { 0 } else { (state as usize ^ self.me).checked_rem(n_moves).unwrap_or(0) };
        let pushed = (|| -> Result<(), Full> {
            self.frames.push(frame)?;
            for n in (0..n_moves).rev() {
                let to = self.numbers[if n + turn < n_moves { n + turn } else { n + turn - n_moves }];
                if !knows(laid, to, LEFT) {
                    self.todo.push(to)?;
                }
            }
            Ok(())
        })();
        pushed.map_err(|f| run.signals.full(f))?;
        let depth = self.frames.len() as u64 - 1;
        debug_assert!(
            run.request.max_depth.is_none_or(|max| depth <= u64::from(max)),
            "what is too deep is not entered"
        );
        self.counters.depth = self.counters.depth.max(depth);
        self.entered += 1;
        self.news.expanded += 1;
        self.news.stored += 1;
        self.news.transitions += n_moves as u64;
        if self.entered.is_multiple_of(REST) {
            seat.cards.rest();
        }
        if self.news.expanded >= LOOK {
            run.signals.at_depth(depth);
            run.signals.look(&mut self.news)?;
            if let Some(watch) = watch {
                watch.tell(&run.signals, Some(depth))?;
            }
        }
        run.signals.go_on()
    }
}

/// Where a search began.
#[derive(Clone, Copy)]
struct Begun {
    start: StateId,
    entry: u32,
}

#[inline]
fn knows(laid: Laid<'_>, state: u32, bits: u64) -> bool {
    laid.card(state)[KNOWN].load(SeqCst) & bits != 0
}
