//! Breadth-first by levels, with one thread or several: every violation at its least depth.
//!
//! Fits    safety; any `Successors`, any exact `Visited`: a level is kept as names and decoded again.
//!
//! # The argument
//!   Level 0 is the initial state; the states that are new while level n is expanded are level n + 1. A level is
//!   finished before the next one begins, whoever expands which part of it, so a state is new at its least
//!   distance and the levels are the same for any number of threads. So are the sums over all states: counts,
//!   violations, edges taken.
//!   A thread expands some states, offers their successors, and settles them together: the store's cache
//!   misses overlap. Names of new states go to the thread's own log. Successors that the thread met a short while
//!   ago are counted and not offered again (`Recent`).
//!
//!   No parents are kept. A violation is known by its level, the key of the state and the step; the way there is
//!   looked for backwards through the levels when the search is over (`paths`).
//!   Which violation of a level is shown is a matter of the model alone. In order (`levels`, I2) it is the
//!   first one; otherwise the one at the least key. So the level in which the last open question was answered is
//!   finished before the search stops.
//!
//! # Where we leave the textbook
//!   D1 a small level is one thread's work, and the others are not even called (`team`)
//!   D2 of a system that leaves out steps (`reduce`): if all successors of a state were known before, and none is known
//!      to lie in the next level, all its steps are taken after all. So a state that leaves something out has a successor
//!      one level further (any thread may have found it). There are finitely many levels, so this ends at a state where
//!      nothing is left out; what was left out before is still possible there, and is taken.
//!      That is enough for what finite runs show: no step is left out for ever. The levels of such a search depend on who
//!      finds what first, and no depth is a least one.
//!
//! # Invariants
//!   I1 between two levels all states of the store are in the levels, the one to be expanded next included
//!   I2 between two levels a thread has nothing that is offered and not settled, and nobody whose other steps are owed
//!
//! # Owed
//!   O1 counts and verdicts = depth-first = oracle, for any number of threads    tests: random toy systems
//!   O2 the trace is a shortest one                          tests: the same, against the oracle's distances
//!   O3 the same trace for any number of threads             tests: a wide system with many violations
//!
//! # Cost  each state expanded once; two to six bytes a state for the levels.

use super::levels::{Levels, Units};
use super::team::{self, Team};
use super::watch::{News, Signals, Watch};
use super::{Halt, Ledger, Place, Request, SOME, Searched, Stopped, Tally, is_packed, look, no_start, paths, place_of};
use crate::counters::Counters;
use crate::observer::Observer;
use crate::verdict::Kind;
use spinor_model::fault::Fault;
use spinor_model::successors::{Batch, Step, Successors, Wish};
use spinor_store::{Account, Log, Recent, StateId, Visited};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, RwLock};

/// Keys settled together.
const KEYS: usize = 64;
/// How many states before its turn a state is fetched.
const AHEAD: usize = 3;
/// Flushes between two looks at the clock.
const LOOK: u32 = 16;
/// As many states can be looked at again in debug builds.
const FEW: u64 = 1 << 12;
/// A batch without keys is flushed too, so that somebody looks.
const STATES: u64 = 1 << 10;

pub fn search<S: Successors, V: Visited>(
    system: &S,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    assert!(V::EXACT, "a level is decoded: the plan refuses lossy stores");
    assert!(!request.proviso.is_path(), "there is no path: the plan refuses it");
    assert!(request.por_from == 0 || request.proviso.may_begin_late(), "who begins late needs nobody's help");
    assert!(store.is_empty(), "a search starts with an empty store");
    let mut root = Vec::new();
    match system.initial() {
        Ok(state) => system.pack(&state, &mut root),
        Err(fault) => return no_start(fault, request, system.batch()),
    }
    let signals = Signals::new(request.max_time, &request.budget);
    let run = Run { system, store, request, signals, ledger: RwLock::new(Ledger::new(request)), root };
    let mut levels = Levels::new(&request.budget, request.alone);
    let workers: Vec<Mutex<Option<Worker>>> = (0..request.jobs).map(|_| Mutex::default()).collect();
    let mut shown = Vec::new();
    let sit = || run.sit();
    // Who has to stop tells the others.
    let part = |me: usize, seat: &mut Seat<'_, S, V>, level: &Level| {
        let _ = run.worker(&mut lock(&workers[me])).expand(&run, level, me, seat, None);
    };
    let mut watch = Watch::new(observer);
    let lead = |team: &mut Team<'_, '_, Level>| run.levels(&mut levels, &workers, team, &mut shown, &mut watch);
    let halted = team::gather(request.jobs, sit, part, lead).is_err();
    assert_eq!(halted, run.signals.why().is_some(), "who stops says why");

    let mut all = Totals::of(system);
    workers.iter().for_each(|w| lock(w).iter().for_each(|w| all.add(w)));
    all.counters.depth = levels.len().saturating_sub(1) as u64;
    let stopped = run.signals.why().or(all.cut.then(|| Stopped::Depth(request.max_depth.unwrap_or(u32::MAX))));
    let Counters { stored, transitions, .. } = all.counters;
    assert!(halted || stored == store.len(), "each state is new to one thread, once");
    assert!(transitions >= stored, "each state is the end of a transition");
    assert!(
        !all.cut || request.max_depth.is_some_and(|max| levels.len() > max as usize),
        "only what is too deep is cut"
    );
    debug_assert!(halted || stored > FEW || levels.has_each_once(stored), "levels, I1");
    debug_assert!(shown.is_sorted_by_key(|s: &Sighting| s.level), "what is seen first lies no deeper");
    let bytes = request.budget.used();
    drop(workers);
    let found = paths::find(system, store, &run.root, &levels, shown, request.jobs);
    let Totals { tally, counters, edges, .. } = all;
    let searched =
        Searched { found, tally, counters, reached: edges.reached, truncated: edges.truncated, stopped, bytes };
    searched.check(request);
    searched
}

/// What all threads share.
struct Run<'a, S, V> {
    system: &'a S,
    store: &'a V,
    request: &'a Request,
    signals: Signals,
    /// Written between levels only.
    ledger: RwLock<Ledger>,
    /// The key of the initial state.
    root: Vec<u8>,
}

/// A violation in a level.
#[derive(Debug)]
pub(super) struct Sighting {
    pub kind: Kind,
    place: Option<Place>,
    pub level: usize,
    /// The state it was seen in.
    pub key: Vec<u8>,
    /// Which step, outcome and fault of the state.
    nth: (u32, u32, usize),
    pub last: Option<(Step, u32)>,
    pub fault: Option<Fault>,
}

impl<'a, S: Successors, V: Visited> Run<'a, S, V> {
    fn levels(
        &self,
        levels: &mut Levels,
        workers: &[Mutex<Option<Worker>>],
        team: &mut Team<'_, '_, Level>,
        shown: &mut Vec<Sighting>,
        watch: &mut Watch<'_>,
    ) -> Result<(), Halt> {
        let full = |f| self.signals.full(f);
        let budget = &self.request.budget;
        let mut seat = self.sit();
        {
            let put = self.store.put(&mut seat.hand, &self.root);
            self.store.rest(&mut seat.hand);
            let mut first = lock(&workers[0]);
            let first = self.worker(&mut first);
            first.next.push(put.map_err(full)?.0).map_err(full)?;
            first.counters = Counters { stored: 1, transitions: 1, ..Counters::default() };
            first.news = News { stored: 1, transitions: 1, expanded: 0 };
        }
        let max_depth = self.request.max_depth.map_or(usize::MAX, |d| d as usize);
        let mut ids = Vec::new();
        // Who worked on the last level.
        let mut n_threads = 1;
        let mut n_states = 0;
        loop {
            let mut locked: Vec<_> = workers[..n_threads].iter().map(lock).collect();
            let found: Vec<_> = locked.iter_mut().flat_map(|w| w.as_mut()).map(|w| &mut w.next).collect();
            let len = found.iter().map(|log| log.len()).sum();
            if len == 0 {
                return Ok(());
            }
            n_states += len;
            debug_assert_eq!(n_states, self.store.len(), "I1");
            let depth = levels.len();
            levels.push(budget, len, found.into_iter(), &mut ids).map_err(full)?;
            drop(locked);
            self.signals.at_depth(depth as u64);
            n_threads = levels.n_threads(depth, self.request.jobs);
            let ordered = levels.is_ordered(depth);
            let (deeper, whole) = (depth < max_depth, n_states < self.request.por_from);
            debug_assert!(!ordered || n_threads == 1, "levels, I2");
            let level = Level { depth, units: levels.units(depth, ids, n_threads), deeper, ordered, whole };
            let mut mine =
                |level: &Level| self.worker(&mut lock(&workers[0])).expand(self, level, 0, &mut seat, Some(watch));
            let (level, done) = if n_threads == 1 {
                let done = mine(&level);
                (level, done)
            } else {
                let level = team.share(n_threads, level, |level| {
                    let _ = mine(level);
                });
                (level, self.signals.go_on())
            };
            debug_assert!(done.is_err() || level.units.are_taken(), "a level is finished before the next one begins");
            ids = level.units.into_ids();
            let settled = self.close(&workers[..n_threads], ordered, shown);
            done?;
            if settled {
                return Err(self.signals.stop(Stopped::Settled));
            }
        }
    }

    /// What a thread works with and another cannot take over.
    fn sit(&self) -> Seat<'a, S, V> {
        Seat { hand: self.store.hand(), state: self.system.unpack(&self.root) }
    }

    /// Made by the thread whose it is, so that what it writes all the time lies apart from what others do.
    fn worker<'w>(&self, worker: &'w mut Option<Worker>) -> &'w mut Worker {
        worker.get_or_insert_with(|| Worker::new(self.system, self.request))
    }

    /// Takes the violations of a level into the ledger. Says whether there is nothing left to find.
    fn close(&self, workers: &[Mutex<Option<Worker>>], ordered: bool, shown: &mut Vec<Sighting>) -> bool {
        let seen = |w: &Mutex<Option<Worker>>| lock(w).as_mut().map(|w| std::mem::take(&mut w.seen));
        let mut seen: Vec<Sighting> = workers.iter().filter_map(seen).flatten().collect();
        if seen.is_empty() {
            return false;
        }
        if !ordered {
            seen.sort_by(|a, b| (&a.key, a.nth).cmp(&(&b.key, b.nth)));
        }
        let mut ledger = self.ledger.write().expect("nothing panics while it is held");
        debug_assert!(seen.iter().all(|s| ledger.wants(s.kind, s.place)), "only what is wanted was kept in the level");
        shown.extend(seen.into_iter().filter(|s| ledger.take(s.kind, s.place)));
        ledger.settled()
    }
}

struct Seat<'s, S: Successors, V: Visited + 's> {
    hand: V::Hand<'s>,
    state: S::State,
}

struct Level {
    depth: usize,
    units: Units,
    /// Successors are looked at; otherwise only ends are.
    deeper: bool,
    ordered: bool,
    /// Nothing is to be left out yet.
    whole: bool,
}

/// What a thread keeps from level to level, locked while it works, and otherwise the leader's to look at. No cache line of
/// it is another's.
#[repr(align(128))]
struct Worker {
    next: Log,
    counters: Counters,
    tally: Tally,
    seen: Vec<Sighting>,
    /// Some state was not expanded because it lies too deep.
    cut: bool,
    /// The outcomes of some states, and where their keys lie.
    batch: Batch,
    keys: Vec<Range<usize>>,
    answers: Vec<(StateId, bool)>,
    /// The state at hand.
    key: Vec<u8>,
    /// Its steps, where they are asked for.
    offered: Vec<Step>,
    bits: Vec<u64>,
    ids: Vec<StateId>,
    recent: Recent,
    /// Keys of the batch that are left out because they were met a short while ago.
    n_repeated: u64,
    /// States of the batch that left out steps, and the keys of their successors.
    partial: Vec<(StateId, Range<usize>)>,
    /// Those whose other steps are to be taken, too (D2).
    again: Vec<StateId>,
    next_level: NextLevel,
    news: News,
    flushes: u32,
}

/// Some of the states that are known to lie in the level after this one.
struct NextLevel {
    entries: Vec<(StateId, u32)>,
    account: Account,
    /// There is no memory for it.
    refused: bool,
}

impl NextLevel {
    const BITS: u32 = 15;
    const ENTRIES: usize = 1 << Self::BITS;

    fn place(id: StateId) -> usize {
        (id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Self::BITS)) as usize
    }

    fn note(&mut self, id: StateId, depth: usize) {
        if self.entries.is_empty() && !self.refused {
            let bytes = Self::ENTRIES * size_of::<(StateId, u32)>();
            self.refused = self.account.charge(bytes as u64).is_err();
            if !self.refused {
                self.entries = vec![(StateId(0), u32::MAX); Self::ENTRIES];
            }
        }
        if let Some(entry) = self.entries.get_mut(Self::place(id)) {
            debug_assert!(entry.0 != id || entry.1 == u32::MAX, "a state is new once");
            *entry = (id, depth as u32);
        }
    }

    fn has(&self, id: StateId, depth: usize) -> bool {
        !self.entries.is_empty() && self.entries[Self::place(id)] == (id, depth as u32)
    }
}

fn lock(worker: &Mutex<Option<Worker>>) -> MutexGuard<'_, Option<Worker>> {
    worker.lock().expect("who panics ends the search")
}

impl Worker {
    fn new<S: Successors>(system: &S, request: &Request) -> Worker {
        Worker {
            next: Log::new(&request.budget),
            counters: Counters::default(),
            tally: Tally::default(),
            seen: Vec::new(),
            cut: false,
            batch: system.batch(),
            keys: Vec::new(),
            answers: Vec::new(),
            key: Vec::new(),
            offered: Vec::new(),
            bits: Vec::new(),
            ids: Vec::new(),
            recent: Recent::new(&request.budget),
            n_repeated: 0,
            partial: Vec::new(),
            again: Vec::new(),
            next_level: NextLevel { entries: Vec::new(), account: request.budget.account(), refused: false },
            news: News::default(),
            flushes: 0,
        }
    }

    /// A thread's share of a level.
    fn expand<S: Successors, V: Visited>(
        &mut self,
        run: &Run<'_, S, V>,
        level: &Level,
        me: usize,
        seat: &mut Seat<'_, S, V>,
        watch: Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        debug_assert!(self.is_settled(), "I2");
        debug_assert!(self.next.is_empty(), "I1: what was found in the last level is in the levels");
        debug_assert!(self.seen.is_empty(), "what was seen in the last level is in the ledger");
        let done = self.expand_all(run, level, me, seat, watch);
        debug_assert!(done.is_err() || self.is_settled(), "I2");
        // A hand that waits for others would keep them from growing the tables.
        run.store.rest(&mut seat.hand);
        done
    }

    /// I2
    fn is_settled(&self) -> bool {
        self.keys.is_empty()
            && self.batch.outcomes.is_empty()
            && self.partial.is_empty()
            && self.again.is_empty()
            && self.n_repeated == 0
    }

    fn expand_all<S: Successors, V: Visited>(
        &mut self,
        run: &Run<'_, S, V>,
        level: &Level,
        me: usize,
        seat: &mut Seat<'_, S, V>,
        mut watch: Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        {
            let ledger = run.ledger.read().expect("nothing panics while it is held");
            let heeds = |kind| ledger.heeds(kind, &self.tally);
            run.system.heed(&mut seat.state, heeds(Kind::Assertion), heeds(Kind::Promise));
        }
        run.system.wish(&mut seat.state, if level.whole { Wish::ALL } else { Wish::default() });
        let mut ids = std::mem::take(&mut self.ids);
        while level.units.take(me, &mut ids) {
            for (n, &id) in ids.iter().enumerate() {
                if let Some(&next) = ids.get(n + AHEAD) {
                    run.store.soon(&mut seat.hand, next);
                }
                self.state(run, level, seat, id)?;
                if self.keys.len() >= KEYS || self.news.expanded >= STATES {
                    self.flush(run, level, seat, &mut watch)?;
                }
            }
        }
        self.ids = ids;
        self.flush(run, level, seat, &mut watch)
    }

    /// Lays the successors of a state into the batch and offers them.
    #[inline]
    fn state<S: Successors, V: Visited>(
        &mut self,
        run: &Run<'_, S, V>,
        level: &Level,
        seat: &mut Seat<'_, S, V>,
        id: StateId,
    ) -> Result<(), Halt> {
        let Run { system, store, .. } = run;
        store.load(&mut seat.hand, id, &mut self.key);
        system.unpack_into(&self.key, &mut seat.state);
        debug_assert!(!id.0.is_multiple_of(SOME) || is_packed(*system, &seat.state, &self.key), "a state has one key");
        if !run.request.looked.is_empty() {
            for kind in look(*system, &mut seat.state, run.request, &mut self.bits) {
                self.see(run, level, kind, (0, 0, 0), None, None);
            }
        }
        let (n_outcomes, n_faults, n_keys) = (self.batch.outcomes.len(), self.batch.faults.len(), self.keys.len());
        let n_steps = if level.deeper {
            system.expand(&mut seat.state, &mut self.batch)
        } else {
            system.enabled(&mut seat.state, &mut self.offered);
            self.offered.len()
        };
        debug_assert!(
            !level.deeper || self.batch.outcomes[n_outcomes..].iter().all(|o| (o.step as usize) < n_steps),
            "outcomes are of the steps that are told"
        );
        let takes_all = level.deeper && level.whole;
        debug_assert!(!takes_all || !system.leaves_out(&seat.state), "nothing is left out yet");
        self.news.expanded += 1;
        let leaves_out = level.deeper && run.request.makes_up() && system.leaves_out(&seat.state);
        if n_steps == 0 {
            debug_assert!(self.batch.outcomes.len() == n_outcomes && !leaves_out, "of no steps nothing comes");
            if !system.may_end(&seat.state) {
                self.see(run, level, Kind::EndState, (0, 0, 0), None, None);
            }
            return Ok(());
        }
        if !level.deeper {
            self.cut = true;
            return Ok(());
        }
        self.take(run, level, seat, (n_outcomes, n_faults))?;
        if leaves_out {
            self.partial.push((id, n_keys..self.keys.len()));
        }
        Ok(())
    }

    /// D2: the steps of a state that were left out at first.
    #[cold]
    fn rest<S: Successors, V: Visited>(
        &mut self,
        run: &Run<'_, S, V>,
        level: &Level,
        seat: &mut Seat<'_, S, V>,
        id: StateId,
    ) -> Result<(), Halt> {
        run.store.load(&mut seat.hand, id, &mut self.key);
        run.system.unpack_into(&self.key, &mut seat.state);
        let before = (self.batch.outcomes.len(), self.batch.faults.len());
        run.system.expand_rest(&mut seat.state, &mut self.batch);
        debug_assert!(run.request.makes_up() && !level.whole, "only what was left out is taken afterwards");
        self.take(run, level, seat, before)
    }

    /// Offers the outcomes of the state at hand, from the given one on.
    #[inline]
    fn take<S: Successors, V: Visited>(
        &mut self,
        run: &Run<'_, S, V>,
        level: &Level,
        seat: &mut Seat<'_, S, V>,
        (n_outcomes, n_faults): (usize, usize),
    ) -> Result<(), Halt> {
        let Run { system, store, request, .. } = run;
        let n_keys = self.keys.len();
        for outcome in &self.batch.outcomes[n_outcomes..] {
            self.counters.atomic_steps += u64::from(outcome.atomic_steps);
            if let Some(key) = outcome.key() {
                // Where it matters whether a state is new, its name is asked for.
                if !request.makes_up() && self.recent.repeats(&self.batch.keys[key.clone()]) {
                    self.n_repeated += 1;
                } else {
                    self.keys.push(key);
                }
            }
        }
        if self.batch.faults.len() > n_faults {
            system.all_enabled(&mut seat.state, &mut self.offered);
            self.faults(run, level, n_faults);
        }
        let offered = store.offer(&mut seat.hand, &self.batch.keys, &self.keys[n_keys..]);
        offered.map_err(|f| run.signals.full(f))
    }

    #[cold]
    fn faults<S: Successors, V: Visited>(&mut self, run: &Run<'_, S, V>, level: &Level, from: usize) {
        for n in from..self.batch.faults.len() {
            let (outcome, fault) = self.batch.faults[n].clone();
            let outcome = self.batch.outcomes[outcome];
            let last = (self.offered[outcome.step as usize], outcome.path);
            let nth = (outcome.step, outcome.path, n - from);
            self.see(run, level, Kind::of(&fault.kind), nth, Some(last), Some(fault));
        }
    }

    /// Counts a violation, and keeps it if its trace may be shown.
    fn see<S: Successors, V: Visited>(
        &mut self,
        run: &Run<'_, S, V>,
        level: &Level,
        kind: Kind,
        nth: (u32, u32, usize),
        last: Option<(Step, u32)>,
        fault: Option<Fault>,
    ) {
        debug_assert_eq!(last.is_some(), fault.is_some(), "what a step shows is a fault");
        self.tally.count(kind);
        let place = fault.as_ref().and_then(place_of);
        let ledger = run.ledger.read().expect("nothing panics while it is held");
        if !ledger.wants(kind, place) {
            return;
        }
        let rank = |s: &Sighting| (s.key.clone(), s.nth);
        let before = |s: &Sighting| (&self.key, nth) < (&s.key, s.nth);
        // At most one for each place, and no more without a place than are wanted.
        let same = |s: &Sighting| s.kind == kind && (!ledger.all_errors || place.is_some() && s.place == place);
        let rival = match self.seen.iter().position(same) {
            Some(n) => Some(n),
            None if place.is_none() && ledger.most != usize::MAX => {
                let alike = || self.seen.iter().enumerate().filter(|(_, s)| s.kind == kind && s.place.is_none());
                let enough = alike().count() >= ledger.most;
                alike().max_by_key(|(_, s)| rank(s)).filter(|_| enough).map(|(n, _)| n)
            }
            None => None,
        };
        if rival.is_some_and(|n| level.ordered || !before(&self.seen[n])) {
            return;
        }
        let sighting = Sighting { kind, place, level: level.depth, key: self.key.clone(), nth, last, fault };
        match rival {
            Some(n) => self.seen[n] = sighting,
            None => self.seen.push(sighting),
        }
    }

    /// Settles the batch and takes note of what came of it.
    fn flush<S: Successors, V: Visited>(
        &mut self,
        run: &Run<'_, S, V>,
        level: &Level,
        seat: &mut Seat<'_, S, V>,
        watch: &mut Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        loop {
            self.settle(run, level, seat, watch)?;
            if self.again.is_empty() {
                return Ok(());
            }
            let mut again = std::mem::take(&mut self.again);
            for id in again.drain(..) {
                self.rest(run, level, seat, id)?;
            }
            self.again = again;
        }
    }

    /// Outcomes with a key are transitions, and nothing else is.
    fn is_batch_whole(&self) -> bool {
        let n_keys = self.batch.outcomes.iter().filter(|o| o.key().is_some()).count() as u64;
        n_keys == self.keys.len() as u64 + self.n_repeated
    }

    /// Of some keys of the batch: the store gives them back by the names that it answered with.
    fn is_answered_rightly<S: Successors, V: Visited>(&self, store: &V, seat: &mut Seat<'_, S, V>) -> bool {
        let mut key = Vec::new();
        let some = self.answers.iter().zip(&self.keys).step_by(SOME as usize);
        some.into_iter().all(|((id, _), range)| {
            store.load(&mut seat.hand, *id, &mut key);
            key == self.batch.keys[range.clone()]
        })
    }

    fn settle<S: Successors, V: Visited>(
        &mut self,
        run: &Run<'_, S, V>,
        level: &Level,
        seat: &mut Seat<'_, S, V>,
        watch: &mut Option<&mut Watch<'_>>,
    ) -> Result<(), Halt> {
        let mut settled = run.store.settle(&mut seat.hand, &self.batch.keys, &self.keys, &mut self.answers);
        debug_assert!(settled.is_err() || self.answers.len() == self.keys.len(), "every key has an answer");
        debug_assert!(self.is_batch_whole(), "each outcome is offered, or was met a short while ago");
        debug_assert!(settled.is_err() || self.is_answered_rightly(run.store, seat), "a name is its key's");
        let n_transitions = self.answers.len() as u64 + std::mem::take(&mut self.n_repeated);
        self.counters.transitions += n_transitions;
        self.news.transitions += n_transitions;
        for &(id, new) in &self.answers {
            if new {
                self.counters.stored += 1;
                self.news.stored += 1;
                settled = self.next.push(id).and(settled);
                if run.request.makes_up() {
                    self.next_level.note(id, level.depth);
                }
            }
        }
        for (id, keys) in self.partial.drain(..) {
            // If the table is full there is an answer for some of them only, and the search ends here.
            debug_assert!(keys.end <= self.keys.len(), "what a state leads to was offered");
            debug_assert!(run.request.makes_up(), "nobody else is owed steps");
            let answers = self.answers.get(keys).unwrap_or(&[]);
            if !answers.iter().any(|(id, new)| *new || self.next_level.has(*id, level.depth)) {
                self.again.push(id);
            }
        }
        self.batch.clear();
        self.keys.clear();
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

/// The sum over the threads.
struct Totals {
    counters: Counters,
    tally: Tally,
    edges: Batch,
    cut: bool,
}

impl Totals {
    fn of<S: Successors>(system: &S) -> Totals {
        Totals { counters: Counters::default(), tally: Tally::default(), edges: system.batch(), cut: false }
    }

    fn add(&mut self, worker: &Worker) {
        self.counters.add(&worker.counters);
        self.tally.join(&worker.tally);
        self.edges.reached.join(&worker.batch.reached);
        self.edges.truncated.join(&worker.batch.truncated);
        self.cut |= worker.cut;
    }
}
