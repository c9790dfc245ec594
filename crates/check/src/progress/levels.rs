//! Cycles without progress, level by level, with one thread or several.
//!
//! Source  [FaragoSchmitt] listing 5 in its form with two queues, one read and one written; with the states between two
//!         progresses searched in layers instead of depth-first.
//! Fits    no fairness; any exact `Visited`: a layer is kept as names and decoded again.
//!
//! # The argument
//!   Level 0 begins with the initial state. Moves without progress lead on inside a level; what makes progress is laid aside and
//!   begins the next level, when this one is finished. So a state is met in its level (see the module), whoever
//!   expands what, and the first level that has a cycle without progress is the least one.
//!   Where states make progress, a progress state is in the store from when it is met; whoever meets it again in this level or
//!   later would lay it aside as well. Where steps do, it is the state *before* the step that is laid aside, and
//!   expanded again in the next level: the state after it may still be met without progress in this one.
//!
//!   Inside a level states come in layers, as in breadth-first search: layer 0 begins it, and what is new while layer n is
//!   expanded is layer n + 1. On a cycle inside a level some move does not lead to a higher layer. Its target is in the
//!   *band*, the names of all states of this level up to the layer being expanded; targets that are neither new nor in
//!   the band are of the next layer or of a lower level, and no cycle needs such moves alone. So as long as nobody is
//!   *suspected*, being met in the band, the level has no cycle.
//!   What is suspected is looked at depth-first, inside the band, by moves without progress. A cycle passes a suspected state;
//!   so if all of these and what can be reached from them have been left without meeting the path, there is none.
//!   That is done when the level is complete, and now and then before, for as long as a part of the work done so far:
//!   a cycle is often near. What was looked at before the level was complete says nothing if there was none, because moves
//!   to states not yet in the band were not followed.
//!
//!   Why not depth-first at once: successors go to the store in batches of many states here, and most of them need not
//!   go there at all because they were met a moment ago in the same layer (`Recent`, which forgets with each layer: in
//!   the next one the same state may be in the band).
//!
//!   The names of all layers are kept. The way to the cycle is looked for backwards through them.
//!
//! # Invariants
//!   I1 the band is written while no layer is expanded, and read while one is
//!   I2 the states of all layers are those of the store, each once, but for progress states: these are met in a layer and
//!      begin a later level as well
//!   I3 progress states that begin a level are not in the band: no cycle passes them. The initial state is, if it is none
//!
//! # Owed
//!   O1 verdict and level = oracle, for any number of threads    tests: random graphs, random models
//!   O2 the run is one, and has as little progress               tests: the same
//!
//! # Cost  each state expanded once, and again what can be reached from suspected states of its level; where steps make
//!   progress also what has such a step. Two to six bytes a state for the layers, 11 to 21 for each of the current level.

use super::band::Band;
use super::{At, Found, Ground, Out, Searched, Which};
use crate::counters::Counters;
use crate::cycles::Request;
use crate::cycles::open::Open;
use crate::observer::Observer;
use crate::search::held::Held;
use crate::search::levels::{Levels, Units};
use crate::search::team::{self, Team};
use crate::search::watch::{News, Signals, Watch};
use crate::search::{self, Halt, Stopped};
use spinor_store::{Log, Recent, StateId, Visited};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard};

/// Keys settled together.
const KEYS: usize = 64;
/// How many states before its turn a state is fetched.
const AHEAD: usize = 3;
/// Flushes between two looks at the clock.
const LOOK: u32 = 16;
/// A batch without keys is flushed too, so that somebody looks.
const STATES: u64 = 1 << 10;
/// Of the states expanded, the part that may be expanded again to look for a cycle early.
const EARLY: u64 = 4;
/// So many may be in any case.
const EARLY_AT_LEAST: u64 = 256;
/// A layer of so many states is one thread's work.
pub const ALONE: u64 = 1 << 11;

pub fn search<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    search_from(ground, store, request, ALONE, observer)
}

/// The same, with layers of another size for one thread alone.
pub fn search_from<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    request: &Request,
    alone: u64,
    observer: &mut dyn Observer,
) -> Searched {
    assert!(V::EXACT, "a layer is decoded: the plan refuses lossy stores");
    let like =
        search::Request { max_time: request.max_time, budget: request.budget.clone(), ..search::Request::default() };
    let run = Run { ground, store, request, signals: Signals::new(&like) };
    let jobs = request.jobs.max(1);
    let workers: Vec<Mutex<Option<Worker>>> = (0..jobs).map(|_| Mutex::default()).collect();
    let part = |me: usize, seat: &mut Seat<'_, G, V>, work: &Work| {
        let _ = run.worker(&mut lock(&workers[me])).take_part(&run, work, me, seat, None);
    };
    let sit = || run.sit();
    let mut lead = Lead {
        run: &run,
        workers: &workers,
        layers: Levels::new(&request.budget, alone),
        rows: Held::new(&request.budget),
        band: Band::new(&request.budget),
        suspects: Vec::new(),
        ids: Vec::new(),
        seat: run.sit(),
        watch: Watch::new(observer),
        again: 0,
    };
    let found = team::gather(jobs, sit, part, |team| lead.all(team)).unwrap_or(None);
    let mut counters = Counters::default();
    workers.iter().for_each(|w| lock(w).iter().for_each(|w| counters.add(&w.counters)));
    counters.depth = lead.rows.iter().map(|row| row.depth).max().unwrap_or(0);
    let cut = workers.iter().any(|w| lock(w).as_ref().is_some_and(|w| w.cut));
    let cut = cut.then(|| Stopped::Depth(request.max_depth.unwrap_or(u32::MAX)));
    let stopped = if found.is_some() { None } else { run.signals.why().or(cut) };
    Searched { found, counters, stopped, bytes: request.budget.used(), again: lead.again, limit: None }
}

/// What all threads share.
struct Run<'a, G, V> {
    ground: &'a G,
    store: &'a V,
    request: &'a Request,
    signals: Signals,
}

impl<'a, G: Ground, V: Visited> Run<'a, G, V> {
    fn sit(&self) -> Seat<'a, G, V> {
        Seat { hand: self.store.hand(), desk: self.ground.desk() }
    }

    fn worker<'w>(&self, worker: &'w mut Option<Worker>) -> &'w mut Worker {
        worker.get_or_insert_with(|| Worker::new(self.ground, self.request))
    }
}

struct Seat<'s, G: Ground, V: Visited + 's> {
    hand: V::Hand<'s>,
    desk: G::Desk,
}

/// What a row of names is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// It begins a level.
    Start,
    /// Met without progress from the row before.
    Layer,
    /// States with steps that make progress; their targets begin the level.
    Sources,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    kind: Kind,
    level: u64,
    /// Layers before it, over all levels.
    depth: u64,
}

/// What the threads do together with a row.
struct Work {
    units: Units,
    what: What,
    /// Taken along, and given back.
    band: Band,
    depth: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// Put the names into the band.
    Put,
    /// Expand the states of the row.
    Expand(Kind),
}

fn lock(worker: &Mutex<Option<Worker>>) -> MutexGuard<'_, Option<Worker>> {
    worker.lock().expect("who panics ends the search")
}

/// The thread that has the whole in view.
struct Lead<'r, 'a, 'o, G: Ground, V: Visited> {
    run: &'r Run<'a, G, V>,
    workers: &'r [Mutex<Option<Worker>>],
    /// The states of each row.
    layers: Levels,
    rows: Held<Row>,
    band: Band,
    suspects: Vec<StateId>,
    /// The last row, if it is small.
    ids: Vec<StateId>,
    seat: Seat<'a, G, V>,
    watch: Watch<'o>,
    again: u64,
}

impl<G: Ground, V: Visited> Lead<'_, '_, '_, G, V> {
    fn all(&mut self, team: &mut Team<'_, '_, Work>) -> Result<Option<Found>, Halt> {
        let Run { ground, store, .. } = *self.run;
        let mut key = Vec::new();
        if !ground.initial(&mut self.seat.desk, &mut key) {
            return Ok(None);
        }
        let put = store.put(&mut self.seat.hand, &key);
        store.rest(&mut self.seat.hand);
        {
            let (id, _) = put.map_err(|f| self.run.signals.full(f))?;
            let mut first = lock(&self.workers[0]);
            let first = self.run.worker(&mut first);
            first.next.push(id).map_err(|f| self.run.signals.full(f))?;
            first.counters = Counters { stored: 1, transitions: 1, ..Counters::default() };
            first.news = News { stored: 1, transitions: 1, expanded: 0 };
        }
        // I3
        let init_still = !ground.bring(&mut self.seat.desk, &key);
        let (mut kind, mut level, mut depth) = (Kind::Start, 0, 0);
        // What may still be expanded again before the level is complete.
        let mut credit = EARLY_AT_LEAST;
        let mut fresh = 0;
        loop {
            let n = self.push_row(Row { kind, level, depth }, |w| &mut w.next)?;
            if n > 0 {
                let in_band = kind == Kind::Layer || ground.by_steps() || level == 0 && init_still;
                self.row(team, n, in_band, What::Expand(kind))?;
                if kind != Kind::Sources {
                    credit += n / EARLY;
                }
                fresh = self.gather_suspects(fresh);
                if fresh < self.suspects.len() && credit >= EARLY_AT_LEAST {
                    let mut spent = 0;
                    let near = self.look(fresh, Some(credit), &mut spent)?;
                    credit = credit.saturating_sub(spent.max(EARLY_AT_LEAST / 4));
                    fresh = self.suspects.len();
                    if near.is_some() {
                        return Ok(near.map(|cycle| self.found(&cycle, level)));
                    }
                }
                (kind, depth) = (if kind == Kind::Sources { Kind::Start } else { Kind::Layer }, depth + 1);
                continue;
            }
            self.drop_row();
            // The level is complete.
            let mut spent = 0;
            if let Some(cycle) = self.look(0, None, &mut spent)? {
                return Ok(Some(self.found(&cycle, level)));
            }
            (self.suspects, fresh) = (Vec::new(), 0);
            self.band.clear();
            credit = EARLY_AT_LEAST;
            level += 1;
            let n: u64 = self.workers.iter().map(|w| lock(w).as_ref().map_or(0, |w| w.later.len())).sum();
            if n == 0 {
                return Ok(None);
            }
            for worker in self.workers {
                if let Some(worker) = &mut *lock(worker) {
                    std::mem::swap(&mut worker.next, &mut worker.later);
                }
            }
            kind = if ground.by_steps() { Kind::Sources } else { Kind::Start };
        }
    }

    /// The last row has no states.
    fn drop_row(&mut self) {
        let last = self.rows.len() - 1;
        self.rows.truncate(last);
    }

    /// Takes what the threads laid down; how many states it is.
    fn push_row(&mut self, row: Row, of: impl Fn(&mut Worker) -> &mut Log) -> Result<u64, Halt> {
        let full = |f| self.run.signals.full(f);
        let mut locked: Vec<_> = self.workers.iter().map(lock).collect();
        let logs: Vec<&mut Log> = locked.iter_mut().flat_map(|w| w.as_mut()).map(of).collect();
        let len = logs.iter().map(|log| log.len()).sum();
        self.rows.push(row).map_err(full)?;
        if len > 0 {
            self.layers.push(&self.run.request.budget, len, logs.into_iter(), &mut self.ids).map_err(full)?;
        }
        self.run.signals.at_depth(row.depth);
        Ok(len)
    }

    /// Puts the last row into the band, if it belongs there, and expands it.
    fn row(&mut self, team: &mut Team<'_, '_, Work>, n: u64, in_band: bool, what: What) -> Result<(), Halt> {
        if in_band && what != What::Expand(Kind::Sources) {
            let n = usize::try_from(n).expect("names fit into memory");
            self.band.room(n).map_err(|f| self.run.signals.full(f))?;
            self.share(team, What::Put)?;
        }
        self.share(team, what)
    }

    fn share(&mut self, team: &mut Team<'_, '_, Work>, what: What) -> Result<(), Halt> {
        let last = self.layers.len() - 1;
        let n_threads = self.layers.n_threads(last, self.run.request.jobs.max(1));
        let units = self.layers.units(last, std::mem::take(&mut self.ids), n_threads);
        let band = std::mem::replace(&mut self.band, Band::new(&self.run.request.budget));
        let depth = self.rows[self.rows.len() - 1].depth;
        let work = Work { units, what, band, depth };
        let Lead { run, workers, seat, watch, .. } = self;
        let mut mine = |work: &Work| run.worker(&mut lock(&workers[0])).take_part(run, work, 0, seat, Some(watch));
        let (work, done) = if n_threads == 1 {
            let done = mine(&work);
            (work, done)
        } else {
            let work = team.share(n_threads, work, |work| {
                let _ = mine(work);
            });
            (work, run.signals.go_on())
        };
        self.band = work.band;
        self.ids = work.units.into_ids();
        done
    }

    /// The suspects of all threads, behind those that are known; in the order of names, so that what is found does not
    /// depend on who was first.
    fn gather_suspects(&mut self, fresh: usize) -> usize {
        let known = self.suspects.len();
        for worker in self.workers {
            if let Some(worker) = &mut *lock(worker) {
                self.suspects.append(&mut worker.suspects);
            }
        }
        self.suspects[known..].sort_unstable();
        fresh
    }

    /// Depth-first from the suspects, the first `from` left out, inside the band: the names of a cycle. With a limit, so many
    /// states may be expanded, and nothing is said of the others.
    fn look(&mut self, from: usize, limit: Option<u64>, spent: &mut u64) -> Result<Option<Vec<StateId>>, Halt> {
        let budget = &self.run.request.budget;
        let full = |f| self.run.signals.full(f);
        let mut left: HashSet<StateId> = HashSet::new();
        let mut open = Open::new(budget);
        let (mut frames, mut todo): (Held<(StateId, usize)>, Held<StateId>) = (Held::new(budget), Held::new(budget));
        let (mut key, mut out) = (Vec::new(), self.run.ground.out());
        let (mut keys, mut answers): (Vec<Range<usize>>, Vec<(StateId, bool)>) = (Vec::new(), Vec::new());
        let Run { ground, store, signals, .. } = self.run;
        for n in from..self.suspects.len() {
            todo.push(self.suspects[n]).map_err(full)?;
            loop {
                let base = frames.last().map_or(0, |frame| frame.1);
                if todo.len() == base {
                    let Some((id, _)) = frames.pop() else { break };
                    open.remove(id);
                    if limit.is_some() {
                        left.insert(id);
                    } else {
                        self.band.clear_one(id);
                    }
                    continue;
                }
                let id = todo.pop().expect("more than the frame's first");
                if let Some(at) = open.get(id) {
                    // It is on the path.
                    return Ok(Some(frames[at as usize..].iter().map(|frame| frame.0).collect()));
                }
                if !self.band.is_open(id) || left.contains(&id) {
                    continue;
                }
                *spent += 1;
                self.again += 1;
                if limit.is_some_and(|limit| *spent > limit) {
                    return Ok(None);
                }
                if spent.is_multiple_of(STATES) {
                    signals.look(&mut News::default())?;
                    self.watch.tell(signals, None)?;
                }
                store.load(&mut self.seat.hand, id, &mut key);
                let progress = ground.bring(&mut self.seat.desk, &key);
                open.insert(id, frames.len() as u32).map_err(full)?;
                frames.push((id, todo.len())).map_err(full)?;
                if progress {
                    continue;
                }
                out.clear();
                ground.moves(&mut self.seat.desk, Which::Still, &mut out);
                keys.clone_from(&out.keys);
                store.offer(&mut self.seat.hand, &out.batch.keys, &keys).map_err(full)?;
                store.settle(&mut self.seat.hand, &out.batch.keys, &keys, &mut answers).map_err(full)?;
                store.rest(&mut self.seat.hand);
                for (to, _) in answers.iter().rev() {
                    todo.push(*to).map_err(full)?;
                }
            }
        }
        Ok(None)
    }

    /// The whole run, from the names of a cycle.
    fn found(&mut self, cycle: &[StateId], level: u64) -> Found {
        let (at, nth) = self.place(cycle, level);
        let mut ids = vec![cycle[nth]];
        let mut made = vec![false];
        let mut row = at;
        // Backwards: who led to the state found last.
        loop {
            let last = ids[ids.len() - 1];
            let Row { kind, level, .. } = self.rows[row];
            match kind {
                Kind::Start if level == 0 => break,
                Kind::Layer => {
                    row -= 1;
                    ids.push(self.parent(row, last, Which::Still));
                    made.push(false);
                }
                Kind::Start if self.run.ground.by_steps() => {
                    let source = self.parent(row - 1, last, Which::Progress);
                    made[ids.len() - 1] = true;
                    row = self.place(&[source], level - 1).0;
                    ids.push(source);
                    made.push(false);
                }
                // A progress state was met in the level before.
                Kind::Start => row = self.place(&[last], level - 1).0,
                Kind::Sources => unreachable!("what leads to a state lies in other rows"),
            }
        }
        let mut stem: Vec<At> = ids.iter().zip(made).rev().map(|(id, made)| At { key: self.key(*id), made }).collect();
        let entered = stem.pop().expect("the state where the cycle begins").made;
        let turned = cycle[nth..].iter().chain(&cycle[..nth]);
        let mut cycle: Vec<At> = turned.map(|id| At { key: self.key(*id), made: false }).collect();
        cycle[0].made = entered;
        Found { stem, cycle, level }
    }

    fn key(&mut self, id: StateId) -> Vec<u8> {
        let mut key = Vec::new();
        self.run.store.load(&mut self.seat.hand, id, &mut key);
        key
    }

    /// The first row of a level in which one of these was met, and which one.
    fn place(&mut self, wanted: &[StateId], level: u64) -> (usize, usize) {
        let mut reader = self.layers.reader();
        let mut ids = Vec::new();
        for row in
            (0..self.layers.len()).filter(|n| self.rows[*n].level == level && self.rows[*n].kind != Kind::Sources)
        {
            reader.read(row, &mut ids);
            let units = self.layers.units(row, std::mem::take(&mut ids), 1);
            let mut portion = Vec::new();
            let mut best = None;
            while units.take(0, &mut portion) {
                let nth = portion.iter().filter_map(|id| wanted.iter().position(|w| w == id)).min();
                best = best.into_iter().chain(nth).min();
            }
            if let Some(nth) = best {
                return (row, nth);
            }
        }
        unreachable!("I2")
    }

    /// A state of a row that leads to this one; the one of least key, so that threads make no difference.
    fn parent(&mut self, row: usize, to: StateId, which: Which) -> StateId {
        let wanted = self.key(to);
        let Run { ground, store, .. } = *self.run;
        let start = self.rows[row].kind == Kind::Start;
        let mut ids = Vec::new();
        self.layers.reader().read(row, &mut ids);
        let units = self.layers.units(row, ids, 1);
        let (mut portion, mut key, mut out) = (Vec::new(), Vec::new(), ground.out());
        let mut best: Option<(Vec<u8>, StateId)> = None;
        while units.take(0, &mut portion) {
            for id in &portion {
                store.load(&mut self.seat.hand, *id, &mut key);
                if best.as_ref().is_some_and(|(least, _)| *least <= key) {
                    continue;
                }
                if ground.bring(&mut self.seat.desk, &key) && !start {
                    continue;
                }
                out.clear();
                ground.moves(&mut self.seat.desk, which, &mut out);
                if (0..out.keys.len()).any(|n| out.key(n) == wanted) {
                    best = Some((key.clone(), *id));
                }
            }
        }
        best.expect("I2: a state was met from the row before").1
    }
}

/// What a thread keeps from row to row. No cache line of it is another's.
#[repr(align(128))]
struct Worker {
    /// States of the next layer, and what begins the next level.
    next: Log,
    later: Log,
    suspects: Vec<StateId>,
    counters: Counters,
    out: Out,
    answers: Vec<(StateId, bool)>,
    key: Vec<u8>,
    ids: Vec<StateId>,
    recent: Recent,
    /// Keys of the batch that are left out because they were met a short while ago.
    n_repeated: u64,
    /// Some state was not expanded because it lies too deep.
    cut: bool,
    news: News,
    flushes: u32,
}

impl Worker {
    fn new<G: Ground>(ground: &G, request: &Request) -> Worker {
        Worker {
            next: Log::new(&request.budget),
            later: Log::new(&request.budget),
            suspects: Vec::new(),
            counters: Counters::default(),
            out: ground.out(),
            answers: Vec::new(),
            key: Vec::new(),
            ids: Vec::new(),
            recent: Recent::new(&request.budget),
            n_repeated: 0,
            cut: false,
            news: News::default(),
            flushes: 0,
        }
    }

    /// A thread's share of a row.
    fn take_part<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        work: &Work,
        me: usize,
        seat: &mut Seat<'_, G, V>,
        watch: Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        let done = match work.what {
            What::Put => {
                while work.units.take(me, &mut self.ids) {
                    self.ids.iter().for_each(|id| work.band.put(*id));
                }
                run.signals.go_on()
            }
            What::Expand(kind) => self.expand(run, work, kind, me, seat, watch),
        };
        // A hand that waits for others would keep them from growing the tables.
        run.store.rest(&mut seat.hand);
        done
    }

    fn expand<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        work: &Work,
        kind: Kind,
        me: usize,
        seat: &mut Seat<'_, G, V>,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        if run.request.max_depth.is_some_and(|max| work.depth >= u64::from(max)) {
            self.cut = true;
            return run.signals.go_on();
        }
        self.recent.forget();
        let mut ids = std::mem::take(&mut self.ids);
        while work.units.take(me, &mut ids) {
            for (n, &id) in ids.iter().enumerate() {
                if let Some(&next) = ids.get(n + AHEAD) {
                    run.store.soon(&mut seat.hand, next);
                }
                self.state(run, kind, seat, id)?;
                if self.out.keys.len() >= KEYS || self.news.expanded >= STATES {
                    self.flush(run, work, seat, &mut watch)?;
                }
            }
        }
        self.ids = ids;
        self.flush(run, work, seat, &mut watch)
    }

    /// Lays the successors of a state into the batch and offers them.
    #[inline]
    fn state<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        kind: Kind,
        seat: &mut Seat<'_, G, V>,
        id: StateId,
    ) -> Result<(), Halt> {
        let full = |f| run.signals.full(f);
        let Run { ground, store, .. } = run;
        store.load(&mut seat.hand, id, &mut self.key);
        let progress = ground.bring(&mut seat.desk, &self.key);
        if progress && kind == Kind::Layer {
            return self.later.push(id).map_err(full);
        }
        self.news.expanded += u64::from(kind != Kind::Sources);
        let n_keys = self.out.keys.len();
        let which = if kind == Kind::Sources { Which::Progress } else { Which::Still };
        let n_outcomes = self.out.batch.outcomes.len();
        ground.moves(&mut seat.desk, which, &mut self.out);
        // Sources were counted when they were expanded for the first time.
        for outcome in self.out.batch.outcomes[n_outcomes..].iter().filter(|_| kind != Kind::Sources) {
            self.counters.atomic_steps += u64::from(outcome.atomic_steps);
        }
        if self.out.more && kind != Kind::Sources {
            self.later.push(id).map_err(full)?;
        }
        let Out { batch, keys, .. } = &mut self.out;
        let mut kept = n_keys;
        for n in n_keys..keys.len() {
            if self.recent.repeats(&batch.keys[keys[n].clone()]) {
                self.n_repeated += 1;
            } else {
                keys.swap(kept, n);
                kept += 1;
            }
        }
        keys.truncate(kept);
        store.offer(&mut seat.hand, &batch.keys, &keys[n_keys..]).map_err(full)
    }

    /// Settles the batch and takes note of what came of it.
    fn flush<G: Ground, V: Visited>(
        &mut self,
        run: &Run<'_, G, V>,
        work: &Work,
        seat: &mut Seat<'_, G, V>,
        watch: &mut Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        let Out { batch, keys, .. } = &self.out;
        let mut settled = run.store.settle(&mut seat.hand, &batch.keys, keys, &mut self.answers);
        let n_transitions = self.answers.len() as u64 + std::mem::take(&mut self.n_repeated);
        self.counters.transitions += n_transitions;
        self.news.transitions += n_transitions;
        // The memory of the band arrives while others are asked for.
        let seen = self.answers.iter().filter(|(_, new)| !new).fold(0, |all, (id, _)| all | work.band.glance(*id));
        std::hint::black_box(seen);
        for &(id, new) in &self.answers {
            if new {
                self.counters.stored += 1;
                self.news.stored += 1;
                settled = self.next.push(id).and(settled);
            } else if work.band.suspect(id) {
                self.suspects.push(id);
            }
        }
        self.out.clear();
        settled.map_err(|f| run.signals.full(f))?;
        run.store.rest(&mut seat.hand);
        self.flushes += 1;
        if self.flushes.is_multiple_of(LOOK) || self.news.expanded >= STATES {
            run.signals.look(&mut self.news)?;
            if let Some(watch) = watch {
                watch.tell(&run.signals, None)?;
            }
        }
        run.signals.go_on()
    }
}
