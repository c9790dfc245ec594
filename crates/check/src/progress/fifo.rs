//! Cycles without progress, depth-first from a queue of progress.
//!
//! Source  [FaragoSchmitt] listings 4 and 5, figures 1 to 6.
//! Fits    no fairness; any `Visited`. With a lossy one, what is found is there, and some may be missed.
//!
//! # The argument
//!   Depth-first, but what makes progress is laid into a queue instead of being followed; when a search ends, the next one
//!   begins at the first of the queue. What the queue gives has the levels in order, so every state is met in its
//!   level, and the states on the path are of one level, the first perhaps a progress state. A move to the path
//!   closes a cycle without progress then, unless it leads to a first state that is a progress state.
//!   A cycle of the least level is not missed: of all states on such cycles take the one entered first; what can be reached
//!   from it without progress has not been left yet or leads to no such cycle, so the search goes on from it as
//!   depth-first search does, and that closes a cycle before it comes back.
//!
//!   Where steps make progress, the queue has the states before them, with those steps still to be done.
//!
//!   Let a and b be steps of one state that commute (`reduce/commute.rs`), and let the state after b have been *left*. What
//!   follows that without progress has been left, too; so after a, the move by b would lead to a state that was left: one
//!   that is known and not in `open`, and would not be kept (D3). It is counted, and not made.
//!   A state that is known and not in `open` was left, or lies in the queue because it is a progress state. From a state that
//!   is none, no step that may sleep leads to one (`reduce/commute.rs`). Only the first state of a path is one; of what it
//!   leads to, that alone counts as left which was left on this path.
//!   An entry of the queue keeps what was asleep where the move to it was made. If a leads from s to a state that was left,
//!   and b, which has nothing to do with a, to a progress state, then a and b together lead to one that was laid into the
//!   queue before, and so has been left when this one has its turn.
//!
//! # Where we leave the paper
//!   D1 frames instead of recursion.
//!   D2 the first state of the path is exempt only if it is a progress state. The listing exempts any first state, the
//!      initial one too, through which a cycle may lead.
//!   D3 all successors of a state go to the store at once; being there does not mean being visited, so those that
//!      wait are in `open`, as are those on the path. One that is known and not there has been left or is in the queue, and
//!      the search that goes on will not have it in `open` again: such moves, most of all, are not kept.
//!   D4 a progress state is in the store from when it is met, not from when it leaves the queue: whoever meets it in between
//!      would put it there a second time.
//!   D5 the queue is the tree of section 2.2: an entry is kept, and knows the one whose search laid it there. The way to
//!      the cycle is put together from searches between the entries, each without progress.
//!
//! # Invariants
//!   I1 a state is in `open` while it waits for its turn or is on the path
//!   I2 nothing but what searches begin at is in `open` when one begins, or what lies too deep, if there is a limit
//!   I3 a move that is asleep leads to a state that was left: it is known, neither in `open` nor waiting in the queue
//!   I4 what lies in `todo` from the uppermost frame's place on are its moves; so are the words of its set in `sets`
//!   I5 `laid` has one row for each entry that waits in the queue, in its order, and `known` the words that they say
//!
//! # Owed
//!   O1 verdict and level = oracle             tests: random graphs, random models
//!   O2 D2                                     tests: the listing's form misses cycles
//!   O3 I3                                     tests: every such move is made in debug builds
//!
//! # Cost  each state expanded once; 40 bytes for one on the path, 16 for a move that waits, 21 to 43 for either in `open`; 24
//!   bytes for each progress, and while that waits 16 more and a bit for each transition, if moves sleep.

use super::walk::{Entry, Walk};
use super::{Found, Ground, Searched, Which};
use crate::cycles::Request;
use crate::cycles::open::Open;
use crate::observer::Observer;
use crate::reduce::commute::{Name, Sleep};
use crate::search::Halt;
use crate::search::held::{Held, Line};
use spinor_store::{StateId, Visited};
use std::collections::HashSet;

/// How many entries before its turn the state of one is fetched.
const AHEAD: usize = 2;
/// Waits for its turn.
const WAITS: u32 = u32::MAX;
/// Where fewer than a third of the moves of so many states are asleep, names are not asked for in the next ones; and no
/// more if that was so several times on end.
const LOOK: u64 = 1 << 10;
const REST: u64 = 1 << 14;
const MOST_POOR: u32 = 4;

/// The listing as it is printed, for tests that show what is wrong with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Repaired,
    Printed,
}

pub fn search<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    search_as(ground, store, Form::Repaired, request, observer)
}

pub fn search_as<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    form: Form,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    let budget = &request.budget;
    // A path that is cut leaves states of which not all is known, and so does a store that takes one state for another.
    let sleeps = ground.knows_sleep() && V::EXACT && request.max_depth.is_none();
    let mut fifo = Fifo {
        walk: Walk::new(ground, store, request, observer),
        knows_sleep: sleeps,
        sleeps,
        sleep: Sleep::default(),
        sets: Held::new(budget),
        rest: Rest::default(),
        form,
        queue: Held::new(budget),
        laid: Line::new(budget),
        known: Line::new(budget),
        waiting: HashSet::new(),
        open: Open::new(budget),
        frames: Held::new(budget),
        todo: Held::new(budget),
        n_entered: 0,
    };
    let ran = fifo.all();
    let is_whole = ran == Ok(None) && fifo.walk.pulse.why().is_none();
    assert!(!is_whole || !V::EXACT || fifo.n_entered == store.len(), "each state is entered once");
    assert!(!is_whole || fifo.open.len() == 0, "I1: nobody waits any more, or is on the path");
    assert!(ran.is_ok() || fifo.walk.pulse.why().is_some(), "who stops says why");
    let found = ran.unwrap_or(None);
    if found.is_none() {
        let counters = &mut fifo.walk.pulse.counters;
        counters.stored = counters.stored.max(store.len());
    }
    fifo.walk.pulse.searched(found, request)
}

/// A state on the path.
#[derive(Clone, Copy)]
struct Frame {
    id: StateId,
    /// Where its moves still to be made begin in `todo`.
    todo: usize,
    /// Where its set begins in `sets`, and whose names are in it.
    set: usize,
    cast: u32,
    /// The move that led to it from the state below.
    by: Name,
}

/// What is known of the way to an entry of the queue that waits.
#[derive(Clone, Copy)]
struct Laid {
    by: Name,
    /// As in a frame; and how long the set is that was known before that move.
    cast: u32,
    n_words: u32,
}

/// When names are not worth while.
#[derive(Default)]
struct Rest {
    n_states: u64,
    n_moves: u64,
    n_asleep: u64,
    left: u64,
    n_poor: u32,
}

impl Rest {
    /// Whether to ask for names in the next state.
    fn is_over(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.left == 0
    }

    /// It will never be worth while.
    fn is_for_good(&self) -> bool {
        self.n_poor == MOST_POOR
    }

    fn note(&mut self, n_moves: u64, n_asleep: u64) {
        debug_assert!(n_asleep <= n_moves && self.left == 0, "names are asked for when the rest is over");
        self.n_states += 1;
        self.n_moves += n_moves;
        self.n_asleep += n_asleep;
        if self.n_states == LOOK {
            let poor = self.n_asleep * 3 < self.n_moves;
            let (left, n_poor) = if poor { (REST, self.n_poor + 1) } else { (0, 0) };
            *self = Rest { left, n_poor, ..Rest::default() };
        }
    }
}

struct Fifo<'a, G: Ground, V: Visited> {
    walk: Walk<'a, G, V>,
    form: Form,
    queue: Held<Entry>,
    /// Of the entries that wait, if moves may be asleep at all, and their sets.
    laid: Line<Laid>,
    known: Line<u64>,
    /// Whose states these are, for checks.
    waiting: HashSet<StateId>,
    open: Open,
    frames: Held<Frame>,
    todo: Held<(StateId, Name)>,
    /// Moves may be asleep, and that is worth while: what is, and of the states on the path which moves led to what is left.
    knows_sleep: bool,
    sleeps: bool,
    sleep: Sleep,
    sets: Held<u64>,
    rest: Rest,
    /// States that have been on the path.
    n_entered: u64,
}

impl<G: Ground, V: Visited> Fifo<'_, G, V> {
    fn all(&mut self) -> Result<Option<Found>, Halt> {
        let Some(first) = self.walk.initial()? else { return Ok(None) };
        self.lay(Entry { id: first, parent: 0, from: first }, Name::NONE)?;
        let mut next = 0;
        while next < self.queue.len() {
            let Entry { id, .. } = self.queue[next];
            if let Some(Entry { id, .. }) = self.queue.get(next + AHEAD) {
                self.walk.soon(*id);
            }
            let starts = if self.walk.ground.by_steps() && next > 0 {
                self.walk.bring(id);
                self.walk.moves(Which::Progress)?;
                self.walk.pulse.counters.transitions += self.walk.after.len() as u64;
                let new = self.walk.after.iter().filter(|(_, new)| *new).map(|(id, _)| *id);
                let starts: Vec<StateId> = new.collect();
                debug_assert!(!self.walk.after.is_empty(), "an entry has steps that make progress");
                for start in &starts {
                    self.open.insert(*start, WAITS).map_err(|full| self.walk.pulse.full(full))?;
                }
                starts
            } else {
                self.open.insert(id, WAITS).map_err(|full| self.walk.pulse.full(full))?;
                vec![id]
            };
            let by = self.take_up(id);
            let is_cut = self.walk.pulse.max_depth < u64::MAX;
            debug_assert!(is_cut || self.open.len() == starts.len(), "I2");
            for start in starts {
                // An earlier one of them may have come there.
                if self.open.get(start) != Some(WAITS) {
                    continue;
                }
                if let Some(at) = self.from(start, by, next as u32)? {
                    // What waited was not looked at.
                    self.walk.pulse.counters.stored = self.n_entered;
                    let path: Vec<StateId> = self.frames.iter().map(|frame| frame.id).collect();
                    return self.walk.run(&self.queue, next as u32, &path, at).map(Some); // D5
                }
            }
            next += 1;
        }
        Ok(None)
    }

    /// By a move from the uppermost state of the path.
    fn lay(&mut self, entry: Entry, by: Name) -> Result<(), Halt> {
        let last = || self.queue.last().map_or(0, |last| last.parent);
        let earlier = || (last()..self.queue.len().max(1) as u32).contains(&entry.parent);
        debug_assert!(earlier(), "D5: entries are laid by earlier ones, in their order");
        self.walk.keep(entry.id);
        self.walk.keep(entry.from);
        let laid = (|| {
            self.queue.push(entry)?;
            if self.knows_sleep {
                let (set, cast) = self.frames.last().map_or((0, 0), |frame| (frame.set, frame.cast));
                let set = if cast > 0 { &self.sets[set..] } else { &[] };
                self.laid.extend(&[Laid { by, cast, n_words: set.len() as u32 }])?;
                self.known.extend(set)?;
            }
            Ok(())
        })();
        if cfg!(debug_assertions) && self.knows_sleep {
            assert!(self.waiting.insert(entry.id), "D4: nobody waits in the queue twice");
        }
        laid.map_err(|full| self.walk.pulse.full(full))
    }

    /// Of the next entry: what was known before the move to it into `sleep`, and which move that was.
    fn take_up(&mut self, id: StateId) -> Name {
        debug_assert!(self.frames.is_empty() && self.todo.is_empty() && self.sets.is_empty(), "I4");
        self.sleep.clear();
        let Some(Laid { by, cast, n_words }) = self.laid.first() else { return Name::NONE };
        self.sleep.cast = cast;
        self.sleep.set.extend(self.known.firsts(n_words as usize));
        self.laid.let_go(1);
        self.known.let_go(n_words as usize);
        debug_assert!(self.waiting.remove(&id) && self.waiting.len() == self.laid.len(), "I5");
        debug_assert!(self.laid.len() > 0 || self.known.len() == 0, "I5");
        by
    }

    /// Depth-first without progress. Where a cycle closes on the path.
    fn from(&mut self, start: StateId, by: Name, entry: u32) -> Result<Option<usize>, Halt> {
        let progress = self.walk.bring(start);
        // D2
        let exempt = progress || self.form == Form::Printed && !self.walk.ground.by_steps();
        let before = self.open.replace(start, WAITS, 0);
        debug_assert_eq!(before, Some(WAITS), "I1");
        self.enter(start, by, progress, start, entry)?;
        while let Some(&Frame { id, todo, set, cast, by }) = self.frames.last() {
            debug_assert!(self.todo.len() >= todo && self.sets.len() >= set, "I4");
            if self.todo.len() == todo {
                self.open.remove(id);
                self.walk.let_go(id);
                self.frames.pop();
                self.sets.truncate(set);
                self.note_left(by);
                continue;
            }
            debug_assert_eq!(self.open.get(id), Some(self.frames.len() as u32 - 1), "I1");
            let (to, by) = self.todo.pop().expect("more than the frame's first");
            match self.open.replace(to, WAITS, self.frames.len() as u32) {
                // D3
                None if progress && self.frames.len() == 1 => {}
                None => self.note_left(by),
                Some(WAITS) => {
                    if self.walk.bring(to) {
                        self.open.remove(to);
                        self.lay(Entry { id: to, parent: entry, from: start }, by)?; // D4
                    } else if self.walk.pulse.too_deep(self.frames.len() as u64) {
                        self.open.replace(to, self.frames.len() as u32, WAITS);
                    } else {
                        self.sleep.cast = cast;
                        self.sleep.set.clear();
                        self.sleep.set.extend_from_slice(&self.sets[set..]);
                        debug_assert_eq!(self.open.get(to), Some(self.frames.len() as u32), "I1");
                        self.enter(to, by, false, start, entry)?;
                    }
                }
                Some(0) if exempt => {}
                Some(at) => {
                    debug_assert_eq!(self.frames[at as usize].id, to, "I1");
                    return Ok(Some(at as usize));
                }
            }
        }
        debug_assert!(self.todo.is_empty() && self.sets.is_empty(), "I4");
        Ok(None)
    }

    /// A frame for the state that was brought last; `open` has its place, and `sleep` what was known before the move to it.
    fn enter(&mut self, id: StateId, by: Name, progress: bool, start: StateId, entry: u32) -> Result<(), Halt> {
        debug_assert!(self.n_entered < self.walk.store.len() || !V::EXACT, "no state is entered twice");
        debug_assert!(!progress || self.frames.is_empty(), "only the first of a path is a progress state");
        self.n_entered += 1;
        if self.sleeps && self.rest.is_over() {
            let all = cfg!(debug_assertions).then(|| self.walk.all_moves());
            self.walk.awake(by, &mut self.sleep)?;
            all.iter().for_each(|all| self.check_asleep(all));
            self.rest.note(self.walk.after.len() as u64 + self.walk.out.n_asleep, self.walk.out.n_asleep);
            self.sleeps = !self.rest.is_for_good();
        } else {
            self.sleep.clear();
            self.walk.moves(Which::Still)?;
        }
        if self.walk.out.more {
            self.lay(Entry { id, parent: entry, from: start }, Name::NONE)?;
        }
        let Walk { pulse, after, out, .. } = &self.walk;
        debug_assert!(self.sleep.cast == 0 || out.names.len() == after.len(), "a name for each move");
        let laid = (|| {
            let (todo, set, cast) = (self.todo.len(), self.sets.len(), self.sleep.cast);
            self.frames.push(Frame { id, todo, set, cast, by })?;
            // Two moves may lead to one state, and only the first of them to something new.
            for (to, _) in after.iter().filter(|(_, new)| *new) {
                debug_assert!(!V::EXACT || self.open.get(*to).is_none(), "I1: what is new waits for nothing yet");
                self.open.insert(*to, WAITS)?;
            }
            for (n, (to, _)) in after.iter().enumerate().rev() {
                let name = if cast > 0 { out.names[n] } else { Name::NONE };
                match self.open.get(*to) {
                    None if progress => {}
                    None => self.sleep.put(name),
                    Some(_) => self.todo.push((*to, name))?,
                }
            }
            self.sets.extend(&self.sleep.set)
        })();
        laid.map_err(|full| pulse.full(full))?;
        self.walk.count(self.frames.len() - 1)
    }

    /// The state that this move of the uppermost one leads to was left.
    fn note_left(&mut self, by: Name) {
        let Some(&Frame { set, cast, .. }) = self.frames.last() else { return };
        if let Some((word, bit)) = by.place().filter(|_| cast > 0) {
            self.sets[set + word] |= bit;
        }
    }

    /// I3: of the keys after all moves of the state at hand, those that were not made.
    fn check_asleep(&mut self, all: &[Vec<u8>]) {
        let out = &self.walk.out;
        assert_eq!(all.len() as u64, out.keys.len() as u64 + out.n_asleep, "I3: every move is made or asleep");
        let made: Vec<&[u8]> = (0..out.keys.len()).map(|n| out.key(n)).collect();
        let asleep: Vec<&Vec<u8>> = all.iter().filter(|key| !made.contains(&&key[..])).collect();
        for key in asleep {
            let id = self.walk.known(key);
            let is_left = |id: StateId| self.open.get(id).is_none() && !self.waiting.contains(&id);
            assert!(id.is_some_and(is_left), "I3: it was left");
        }
    }
}
