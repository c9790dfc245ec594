//! What several threads go through together where no cycle matters, and where each begins to look for one.
//!
//! # The argument
//!   No accepted cycle has a state of a barren part, nor does a component that matters. So such a state needs no card, no
//!   set and no colour: it has to be visited once, by anybody, at any time. Who puts a key into the store learns whether
//!   it is new, and over all threads it is so once; that thread has the state to itself. It lies in the
//!   thread's list until it is visited, in blocks as in `scc`, or until it is given to a thread that has nothing to do.
//!
//!   A state of another part that is new and was met from a barren one is a *start*: the thread searches for cycles from there,
//!   by whatever search it has (`union`, `cndfs`), which keeps to the states that are not barren. What is barren and new to
//!   it goes to the list. The search from a start goes through all that can be reached without a barren state between, so
//!   when all lists are empty and all searches at their end, everything was visited: each state that is reached
//!   was new to somebody, as a barren one, as a start, or inside a search.
//!   The components that a search sees are whole, and their moves inside are all there: no cycle leaves its part.
//!
//!   A thread that finds nothing in its lists takes from the pool, where those who have plenty put some of it. If nothing is
//!   there it joins a search that another thread is at, from the same start: the searches are made for that.
//!   If it has taken part in that search already, it waits. All is done when nobody is *busy*: has something in its lists,
//!   or is at a search; a search that was joined counts, for what is new to it is nobody else's.
//!
//!   Threads with an even number go to starts first, so that cycles are found early, the others to barren states:
//!   there they do nothing twice.
//!
//! # Ways
//!   A lasso needs a way to its start. Each thread has a trail of the barren states that it visited: a word that says by which
//!   move of which state it was met. For a state that a search met, the trail knows the search's start and the state it was
//!   met from; the way between them is looked for when it is needed, among the states that some thread has entered.
//!
//! # Invariants
//!   I1 a thread that has states in its lists, or is at a search, is counted in `busy`
//!   I2 a card that some thread has entered has a word that is not zero
//!   I3 a search of a thread is said to last once, and no longer than the thread is at it
//!
//! # Owed
//!   O1 each state is visited, a barren one once    tests: the counts of `union` and `cndfs` on random graphs in parts
//!   O2 the way leads to the start                  tests: the lassos found there are run through
//!   O3 everybody is given something to do          tests: a graph that waits for all threads
//!
//! # Cost  8 bytes for each barren state that was visited, 24 for each that waits.

use super::crew::{self, Crew, Pace};
use super::eyes::Eyes;
use super::{Request, Runs, Searched};
use crate::observer::Observer;
use crate::search::held::Held;
use crate::search::{Halt, Stopped};
use spinor_store::{Budget, Cards, Full, StateId, Visited};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// So many states of barren parts are taken at once.
const BLOCK: usize = 16;
/// States visited for each one by which blocks grow.
const EARLY: u64 = if cfg!(test) { 1 } else { 512 };
/// So many states are given at most, and so few are kept unless somebody waits.
const LOT: usize = 1 << 12;
const FEW: usize = 4 * BLOCK;
/// A search that lasts for so many states is worth being joined.
const LASTS: u64 = if cfg!(test) { 1 } else { 128 };
/// Who waits looks up so often.
const NAP: Duration = Duration::from_micros(500);

/// How a state was come to, in a word: from the highest bit on a kind (2), a thread (6), the number of a move (20), a
/// place (36).
#[derive(Clone, Copy, Debug)]
pub struct Way(u64);

const NTH: u32 = 36;
const THREAD: u32 = 56;
const KIND: u32 = 62;
/// The move is one of the barren state at this place of the thread's trail; of the state there inside a search; or there
/// is none: it is the initial state of this number.
const VISITED: u64 = 0;
const INSIDE: u64 = 1;
const INITIAL: u64 = 2;

impl Way {
    fn new(kind: u64, thread: usize, nth: usize, place: usize) -> Result<Way, Full> {
        debug_assert!(thread < 1 << (KIND - THREAD), "a thread is a bit of a word");
        let fits = nth < 1 << (THREAD - NTH) && place < 1 << NTH;
        let word = kind << KIND | (thread as u64) << THREAD | (nth as u64) << NTH | place as u64;
        debug_assert!(!fits || Way(word).split() == (kind, thread, nth as u32, place), "its parts do not overlap");
        if fits { Ok(Way(word)) } else { Err(Full::Numbers) }
    }

    fn split(self) -> (u64, usize, u32, usize) {
        let part = |from: u32, to: u32| self.0 << (64 - to) >> (64 - to + from);
        (part(KIND, 64), part(THREAD, KIND) as usize, part(NTH, THREAD) as u32, part(0, NTH) as usize)
    }
}

/// A state that is to be visited.
#[derive(Clone, Copy, Debug)]
struct Todo {
    to: StateId,
    way: Way,
    depth: u32,
}

const NOBODY: Todo = Todo { to: StateId(0), way: Way(0), depth: 0 };

/// What a thread has to visit: it takes the newest itself, and gives the oldest away.
struct Line {
    items: Held<Todo>,
    /// Those before were given.
    first: usize,
}

impl Line {
    fn new(budget: &Arc<Budget>) -> Line {
        Line { items: Held::new(budget), first: 0 }
    }

    fn len(&self) -> usize {
        self.items.len() - self.first
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn push(&mut self, todo: Todo) -> Result<(), Full> {
        self.items.push(todo)
    }

    #[inline]
    fn pop(&mut self) -> Option<Todo> {
        if self.is_empty() { None } else { self.items.pop() }
    }

    /// The list moves up once as much was given as is left: each item is moved about once.
    fn take_oldest(&mut self, n: usize) -> Vec<Todo> {
        let lot = self.items[self.first..self.first + n].to_vec();
        self.first += n;
        if self.first >= self.len() {
            let left = self.len();
            self.items.copy_within(self.first.., 0);
            self.items.truncate(left);
            self.first = 0;
        }
        lot
    }
}

/// Where a search begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub state: u32,
    pub way: Way,
    /// Its place on the path, from 0.
    pub depth: u64,
}

/// What is next for a thread.
pub enum Next {
    Search(Start),
    /// This move ends the matter.
    Ends(Way),
    /// Nothing, for anybody.
    Nothing,
}

/// What the threads share.
pub struct Ground {
    pool: Mutex<Pool>,
    changed: Condvar,
    /// As in the pool, to be read without a lock.
    n_lots: AtomicUsize,
    n_waiting: AtomicUsize,
}

struct Pool {
    barren: Vec<Vec<Todo>>,
    starts: Vec<Vec<Todo>>,
    busy: usize,
    /// By thread: a search that lasts, with a number that no other has.
    lasting: Vec<(u64, Option<Start>)>,
    n_lasting: u64,
}

impl Ground {
    /// The first thread is busy from the beginning.
    pub fn new(crew: &Crew) -> Ground {
        let lasting = vec![(0, None); crew.jobs];
        let pool = Pool { barren: Vec::new(), starts: Vec::new(), busy: 1, lasting, n_lasting: 0 };
        Ground { pool: Mutex::new(pool), changed: Condvar::new(), n_lots: 0.into(), n_waiting: 0.into() }
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().expect("nothing panics while it is held")
    }
}

/// Where one thread has been.
pub struct Trail {
    visited: Held<Way>,
    /// The way to a search's start, the start, and a state that the search came to.
    inside: Held<(Way, u32, u32)>,
}

/// One thread.
pub struct Scout<'a, 'w, R: Runs, V: Visited + 'a> {
    pub eyes: Eyes<'a, R, V>,
    pub pace: Pace<'a, 'w>,
    pub number: usize,
    /// Of the search that this thread is at, or was.
    pub start: Start,
    ground: &'a Ground,
    barren: Line,
    starts: Line,
    trail: Trail,
    busy: bool,
    /// States since the start; whether others know of it; the searches of others that were joined.
    n_since: u64,
    lasting: bool,
    joined: Vec<u64>,
}

impl<'a, 'w, R: Runs, V: Visited> Scout<'a, 'w, R, V> {
    pub fn new(eyes: Eyes<'a, R, V>, ground: &'a Ground, number: usize, pace: Pace<'a, 'w>, request: &Request) -> Self {
        let budget = &request.budget;
        let joined = vec![0; pace.crew.jobs];
        Scout {
            eyes,
            pace,
            number,
            start: Start { state: 0, way: Way(INITIAL << KIND), depth: 0 },
            ground,
            barren: Line::new(budget),
            starts: Line::new(budget),
            trail: Trail { visited: Held::new(budget), inside: Held::new(budget) },
            busy: number == 0,
            n_since: 0,
            lasting: false,
            joined,
        }
    }

    /// The first thread begins where runs begin.
    pub fn begin(&mut self) -> Result<(), Halt> {
        if self.number != 0 {
            return Ok(());
        }
        self.initial().map_err(|full| self.pace.full(full))
    }

    fn initial(&mut self) -> Result<(), Full> {
        let eyes = &mut self.eyes;
        eyes.start()?;
        self.pace.counters.transitions += eyes.moves.all.len() as u64;
        for at in (0..eyes.moves.all.len()).rev() {
            let (to, new) = eyes.out[at];
            if new {
                let todo = Todo { to, way: Way::new(INITIAL, 0, 0, at)?, depth: 0 };
                if eyes.is_barren(at) { self.barren.push(todo)? } else { self.starts.push(todo)? }
            }
        }
        Ok(())
    }

    /// Visits barren states until there is something else to do.
    pub fn next(&mut self) -> Result<Next, Halt> {
        self.n_since = 0;
        if std::mem::take(&mut self.lasting) {
            let ended = self.ground.pool().lasting[self.number].1.take();
            debug_assert!(ended.is_some_and(|start| start.state == self.start.state), "I3");
        }
        // No card is needed among barren states, and others may want more of them.
        self.eyes.cards.rest();
        loop {
            self.pace.crew.signals.go_on()?;
            let barren_first = !self.number.is_multiple_of(2);
            if (self.starts.is_empty() || barren_first) && !self.barren.is_empty() {
                if let Some(way) = self.visit_block()? {
                    return Ok(Next::Ends(way));
                }
                self.share();
                continue;
            }
            if let Some(Todo { to, way, depth }) = self.starts.pop() {
                if self.too_deep(depth.into()) {
                    continue;
                }
                debug_assert!(self.busy, "I1");
                let number = self.eyes.cards.number(to);
                let state = number.map_err(|full| self.pace.full(full))?;
                self.start = Start { state, way, depth: depth.into() };
                return Ok(Next::Search(self.start));
            }
            match self.look_around()? {
                Some(next) => return Ok(next),
                None => continue,
            }
        }
    }

    fn too_deep(&mut self, depth: u64) -> bool {
        let deep = self.pace.too_deep(depth);
        self.pace.cut |= deep;
        deep
    }

    /// Visits the barren states that are next. A move that ends the matter, if there is one.
    fn visit_block(&mut self) -> Result<Option<Way>, Halt> {
        debug_assert!(self.busy, "I1");
        // At first one by one: what is near should be found before anything is searched broadly.
        let most = (self.pace.counters.stored / EARLY).clamp(1, BLOCK as u64) as usize;
        let mut block = [(NOBODY, 0); BLOCK];
        let mut n = 0;
        while n < most
            && let Some(todo) = self.barren.pop()
        {
            self.eyes.soon(todo.to);
            block[n].0 = todo;
            n += 1;
        }
        let ends = self.visit(&mut block[..n]);
        let (ends, depth) = ends.map_err(|full| self.pace.full(full))?;
        self.pace.beat(n as u32, depth.into(), &self.eyes.moves)?;
        Ok(ends)
    }

    /// With each state where its moves end. Also how deep it was.
    fn visit(&mut self, block: &mut [(Todo, usize)]) -> Result<(Option<Way>, u32), Full> {
        let (first, mut deepest) = (self.trail.visited.len(), 0);
        self.eyes.clear();
        for (m, (Todo { to, way, depth }, end)) in block.iter_mut().enumerate() {
            self.trail.visited.push(*way)?;
            let before = self.eyes.moves.all.len();
            *end = before;
            if self.too_deep((*depth).into()) {
                continue;
            }
            deepest = deepest.max(*depth);
            self.eyes.expand(*to)?;
            if let Some(nth) = self.eyes.moves.ends {
                return Ok((Some(Way::new(VISITED, self.number, nth as usize - before, first + m)?), deepest));
            }
            if self.eyes.moves.blind {
                return Ok((None, deepest));
            }
            *end = self.eyes.moves.all.len();
        }
        self.pace.counters.stored += block.len() as u64;
        self.pace.counters.transitions += self.eyes.moves.all.len() as u64;
        self.eyes.settle()?;
        for m in (0..block.len()).rev() {
            let (from, to) = (if m == 0 { 0 } else { block[m - 1].1 }, block[m].1);
            for at in (from..to).rev().filter(|at| self.eyes.out[*at].1) {
                let way = Way::new(VISITED, self.number, at - from, first + m)?;
                let todo = Todo { to: self.eyes.out[at].0, way, depth: block[m].0.depth + 1 };
                if self.eyes.is_barren(at) { self.barren.push(todo)? } else { self.starts.push(todo)? }
            }
        }
        Ok((None, deepest))
    }

    /// The moves of a state inside a search, at this place of its path: what is barren and new is for later.
    #[inline]
    pub fn look(&mut self, n: u32, depth: u64) -> Result<(), Halt> {
        debug_assert!(self.busy, "I1");
        debug_assert!(self.eyes.is_entered(n), "I2");
        self.eyes.look(n).map_err(|full| self.pace.full(full))?;
        if self.eyes.some_barren {
            self.meet(n, depth).map_err(|full| self.pace.full(full))?;
        }
        if self.pace.beat(1, depth, &self.eyes.moves)? {
            self.eyes.cards.rest();
            self.share();
        }
        self.n_since += 1;
        if self.n_since == LASTS {
            self.say_that_it_lasts();
        }
        Ok(())
    }

    fn meet(&mut self, n: u32, depth: u64) -> Result<(), Full> {
        debug_assert!(depth < u64::from(u32::MAX), "a path is in memory");
        let place = self.trail.inside.len();
        for at in (0..self.eyes.out.len()).rev() {
            let (to, new) = self.eyes.out[at];
            if new && self.eyes.numbers[at] == 0 {
                if self.trail.inside.len() == place {
                    self.trail.inside.push((self.start.way, self.start.state, n))?;
                }
                let way = Way::new(INSIDE, self.number, at, place)?;
                self.barren.push(Todo { to, way, depth: depth as u32 + 1 })?;
            }
        }
        Ok(())
    }

    fn say_that_it_lasts(&mut self) {
        if self.pace.crew.jobs > 1 {
            let mut pool = self.ground.pool();
            debug_assert!(!self.lasting && pool.lasting[self.number].1.is_none(), "I3");
            pool.n_lasting += 1;
            pool.lasting[self.number] = (pool.n_lasting, Some(self.start));
            self.lasting = true;
            self.ground.changed.notify_all();
        }
    }

    /// Gives some of what is to be visited to the pool, if little lies there.
    #[inline]
    pub fn share(&mut self) {
        let ground = self.ground;
        if self.pace.crew.jobs == 1 || ground.n_lots.load(Relaxed) >= self.pace.crew.jobs {
            return;
        }
        let few = if ground.n_waiting.load(Relaxed) > 0 { 1 } else { FEW };
        if self.barren.len() >= few || self.starts.len() >= few {
            self.give();
        }
    }

    #[cold]
    fn give(&mut self) {
        let barren = self.barren.len() >= self.starts.len();
        let list = if barren { &mut self.barren } else { &mut self.starts };
        // Half of it, the oldest: most is still to be found from there.
        let n = list.len().div_ceil(2).min(LOT);
        let lot = list.take_oldest(n);
        let mut pool = self.ground.pool();
        if barren {
            pool.barren.push(lot)
        } else {
            pool.starts.push(lot)
        }
        debug_assert!(n > 0 && self.busy, "I1: who gives has something");
        let before = self.ground.n_lots.fetch_add(1, Relaxed);
        debug_assert_eq!(before + 1, pool.barren.len() + pool.starts.len(), "it is as in the pool");
        self.ground.changed.notify_all();
    }

    /// The lists are empty: takes from the pool, joins another thread, or waits.
    #[cold]
    fn look_around(&mut self) -> Result<Option<Next>, Halt> {
        let ground = self.ground;
        debug_assert!(self.barren.is_empty() && self.starts.is_empty(), "I1");
        let mut pool = ground.pool();
        pool.busy -= usize::from(std::mem::take(&mut self.busy));
        loop {
            if let Some(lot) = pool.barren.pop() {
                self.take(pool);
                return self.fill(&lot, true).map(|()| None);
            }
            if let Some(lot) = pool.starts.pop() {
                self.take(pool);
                return self.fill(&lot, false).map(|()| None);
            }
            let other = pool.lasting.iter().zip(&self.joined).position(|((n, one), seen)| n > seen && one.is_some());
            if let Some(other) = other
                && let (n, Some(start)) = pool.lasting[other]
            {
                self.joined[other] = n;
                pool.busy += 1;
                debug_assert!(other != self.number && pool.busy <= self.joined.len(), "I1: a thread is counted once");
                self.busy = true; // I1
                self.start = start;
                // It is the other's to say that it lasts.
                self.n_since = LASTS;
                return Ok(Some(Next::Search(start)));
            }
            if pool.busy == 0 {
                debug_assert!(pool.lasting.iter().all(|(_, one)| one.is_none()), "I1: who is at a search is busy");
                self.pace.crew.signals.stop(Stopped::Settled);
                ground.changed.notify_all();
                return Ok(Some(Next::Nothing));
            }
            self.eyes.cards.rest();
            ground.n_waiting.fetch_add(1, Relaxed);
            let waited = ground.changed.wait_timeout(pool, NAP).expect("nothing panics while it is held");
            let n_waiting = ground.n_waiting.fetch_sub(1, Relaxed);
            debug_assert!((1..=self.pace.crew.jobs).contains(&n_waiting), "a thread waits once");
            drop(waited);
            self.pace.look()?;
            pool = ground.pool();
        }
    }

    fn take(&mut self, mut pool: MutexGuard<'_, Pool>) {
        pool.busy += 1;
        debug_assert!(!self.busy && pool.busy <= self.joined.len(), "I1: a thread is counted once");
        self.busy = true; // I1
        let before = self.ground.n_lots.fetch_sub(1, Relaxed);
        debug_assert_eq!(before - 1, pool.barren.len() + pool.starts.len(), "it is as in the pool");
    }

    fn fill(&mut self, lot: &[Todo], barren: bool) -> Result<(), Halt> {
        let list = if barren { &mut self.barren } else { &mut self.starts };
        list.items.extend(lot).map_err(|full| self.pace.full(full))
    }
}

/// The initial state and the moves by which a state was come to.
pub fn stem<R: Runs, V: Visited>(
    trails: &[Trail],
    mut way: Way,
    eyes: &mut Eyes<'_, R, V>,
) -> Result<(usize, Vec<u32>), Full> {
    let mut stem = Vec::new();
    let initial = loop {
        let (kind, thread, nth, place) = way.split();
        match kind {
            INITIAL => break place,
            INSIDE => {
                let (before, from, to) = trails[thread].inside[place];
                stem.push(nth);
                stem.extend(eyes.between(from, to)?.iter().rev());
                way = before;
            }
            _ => {
                assert_eq!(kind, VISITED, "there are three kinds");
                stem.push(nth);
                way = trails[thread].visited[place];
            }
        }
    };
    stem.reverse();
    Ok((initial, stem))
}

/// All threads at work, each with its scout; then what they have seen, where they have been, and what each says.
pub fn send<R: Runs, V: Visited, T: Send>(
    alone: u64,
    (runs, store): (&R, &V),
    (crew, cards): (&Crew, &Cards),
    request: &Request,
    observer: &mut dyn Observer,
    work: impl Fn(&mut Scout<'_, '_, R, V>) -> T + Sync,
) -> (Searched, Vec<Trail>, Vec<T>) {
    let ground = Ground::new(crew);
    let all = crew.work(alone, observer, |n, pace| {
        let mut scout = Scout::new(Eyes::new(runs, store, cards), &ground, n, pace, request);
        let says = work(&mut scout);
        ((scout.pace.counters, scout.pace.cut), scout.trail, says)
    });
    let (mut counts, mut trails, mut say) = (Vec::new(), Vec::new(), Vec::new());
    for (counted, trail, says) in all {
        counts.push(counted);
        trails.push(trail);
        say.push(says);
    }
    (crew::searched(crew, &counts, request), trails, say)
}
