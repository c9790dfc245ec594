//! Runs that never end: searches for one that is accepted, and fair.
//!
//! | file | is |
//! |---|---|
//! | this | what all of them go through and what they find |
//! | `scc` | components with generalised acceptance, the default |
//! | `ndfs` | nested depth-first search, for one mark at states |
//! | `lossy` | the same beside a store that keeps no states |
//! | `by_process` | the order of moves that nested search has in one of the papers |
//! | `union` | components, by several threads |
//! | `sets` | the sets of states that these share |
//! | `cndfs` | nested depth-first search by several threads |
//! | `crew` | several threads at one search |
//! | `eyes` | how one of them looks at states |
//! | `scout` | what they go through where no cycle matters |
//! | `fair` | weak fairness put into the states, for nested search |
//! | `lasso` | a run inside a component |
//! | `shorten` | a shorter run of the same kind |
//! | `answer` | from a claim to a run that is replayed |
//! | `how` | with which search, store and fairness |
//! | `product` | a system beside an automaton |
//! | `open` | numbers of the states whose component is not complete |
//! | `oracle` | the whole graph, for tests |
//! | `toy` | random graphs, for tests |
//!
//! # What is accepted
//!   A run is accepted if it passes moves with every mark infinitely often. It is weakly fair if no process is, from some
//!   point on, always able to move and never moves; strongly fair if no process is infinitely often able to move and
//!   moves only finitely often. Who is able to move, and whose a move is, the system says.
//!   A move may also *end* the matter: whatever comes after it, the run is accepted. Every run that has come so far can
//!   go on fairly, so fairness has no say in it.
//!
//! # Invariants
//!   M1 the keys of moves lie one behind the other and fill `keys`
//!   M2 the move that ends the matter is one of the moves; what is blind has none
//!   M3 the marks of a move are marks that there are, and whose it is, is able to move
//!   M4 of states and the moves between them: who moves is able to somewhere, and who is so everywhere is so somewhere
//!   M5 what was found needs no more search

pub mod answer;
pub mod by_process;
pub mod cndfs;
#[cfg(test)]
mod cndfs_tests;
mod crew;
mod eyes;
pub mod fair;
pub mod how;
pub mod lasso;
pub mod lossy;
pub mod ndfs;
#[cfg(test)]
mod ndfs_tests;
pub(crate) mod open;
pub mod oracle;
pub mod product;
pub mod scc;
mod scout;
mod sets;
pub(crate) mod shorten;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;
pub mod union;
#[cfg(test)]
mod union_tests;

use crate::counters::Counters;
use crate::observer::Observer;
use crate::search::watch::{News, Signals, Watch};
use crate::search::{self, Halt, Stopped, order};
use spinor_model::ir::Pid;
use spinor_model::successors::Wish;
use spinor_store::{Budget, Full, Hint, StateId, Visited};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// States and moves, with acceptance and owners: a system beside an automaton, or a graph.
pub trait Runs: Sync {
    /// What one thread needs to work with: memory, and nothing that changes an answer.
    type Desk;
    fn desk(&self) -> Self::Desk;
    /// As many different marks as there are; 64 at most.
    fn n_marks(&self) -> u32;
    /// Appends the keys of the states where runs begin.
    fn initial(&self, desk: &mut Self::Desk, out: &mut Moves);
    /// Where a state lies. No cycle leaves its part.
    fn part(&self, _key: &[u8]) -> Part {
        Part::default()
    }
    /// Appends the moves of a state, always in the same order. A state without moves has no run.
    fn moves(&self, desk: &mut Self::Desk, key: &[u8], out: &mut Moves);
    /// The same by one who has a say in which moves are left out. Those who leave nothing out need not listen.
    fn moves_as(&self, desk: &mut Self::Desk, key: &[u8], _wish: Wish, out: &mut Moves) {
        self.moves(desk, key, out);
    }
    /// The owners of moves do not tell who is served, because processes change their numbers along the way: a component is
    /// judged by [`Runs::judge`] when it is complete.
    fn judges(&self) -> bool {
        false
    }
    /// Of a complete component that has all marks, if they judge: a run that is accepted and fair. The moves from the
    /// first of its states, and those that repeat.
    #[allow(clippy::type_complexity)]
    fn judge<'s, V: Visited>(
        &self,
        _desk: &mut Self::Desk,
        _store: &'s V,
        _hand: &mut V::Hand<'s>,
        _states: &[StateId],
    ) -> Result<Option<(Vec<u32>, Vec<u32>)>, Full> {
        Ok(None)
    }
}

/// Some of the states, such that every cycle lies in one part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Part {
    pub number: u32,
    /// No cycle of it is accepted.
    pub barren: bool,
}

/// The moves of one state.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    pub keys: Vec<u8>,
    pub all: Vec<Move>,
    /// The processes that are able to move here, if fairness matters.
    pub able: Pids,
    /// The number of a move that ends the matter.
    pub ends: Option<u32>,
    /// What would have to be looked at here cannot be; there are no moves then.
    pub blind: bool,
    /// There are more moves than these.
    pub left_out: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// Where the key of the state after it lies.
    pub to: Range<usize>,
    pub marks: u64,
    /// Whose it is, if fairness matters; nobody's if the automaton moves alone.
    pub pid: Option<Pid>,
}

impl Moves {
    pub fn clear(&mut self) {
        self.keys.clear();
        self.all.clear();
        self.able = Pids::default();
        self.ends = None;
        self.blind = false;
        self.left_out = false;
    }

    pub fn push(&mut self, key: &[u8], marks: u64, pid: Option<Pid>) {
        let from = self.keys.len();
        debug_assert_eq!(from, self.all.last().map_or(0, |m| m.to.end), "M1");
        self.keys.extend_from_slice(key);
        self.all.push(Move { to: from..self.keys.len(), marks, pid });
    }

    pub fn key(&self, n: usize) -> &[u8] {
        &self.keys[self.all[n].to.clone()]
    }

    /// M1 to M3, of the moves of one state; so many others lie before them.
    pub fn check_behind(&self, n: usize, n_marks: u32) -> bool {
        let own = &self.all[n..];
        let from = n.checked_sub(1).map_or(0, |last| self.all[last].to.end);
        let end = own.iter().try_fold(from, |at, m| (m.to.start == at && at <= m.to.end).then_some(m.to.end));
        let is_one = |nth: u32| (n..self.all.len()).contains(&(nth as usize));
        let owner = |m: &Move| m.marks & !all_marks(n_marks) == 0 && m.pid.is_none_or(|pid| self.able.has(pid));
        let ends = self.ends.is_none_or(is_one) && (own.is_empty() || !self.blind);
        end == Some(self.keys.len()) && ends && own.iter().all(owner)
    }

    /// The number that one of these moves has among more of them.
    pub fn number_in(&self, nth: u32, all: &Moves) -> u32 {
        let (own, to) = (&self.all[nth as usize], self.key(nth as usize));
        debug_assert!(self.all.len() <= all.all.len(), "some of the moves are no more than all of them");
        let same = |m: &Move| (m.marks, m.pid) == (own.marks, own.pid) && all.keys[m.to.clone()] == *to;
        all.all.iter().position(same).expect("a selected move is a move") as u32
    }
}

/// A set of processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pids([u64; 4]);

impl Pids {
    pub fn put(&mut self, pid: Pid) {
        self.0[usize::from(pid) / 64] |= 1 << (pid % 64);
    }

    /// The same without a branch.
    pub fn put_if(&mut self, pid: Pid, is_one: bool) {
        self.0[usize::from(pid) / 64] |= u64::from(is_one) << (pid % 64);
    }

    pub fn has(&self, pid: Pid) -> bool {
        self.0[usize::from(pid) / 64] >> (pid % 64) & 1 == 1
    }

    pub fn is_empty(&self) -> bool {
        *self == Pids::default()
    }

    pub fn of(pid: Option<Pid>) -> Pids {
        let mut one = Pids::default();
        pid.into_iter().for_each(|pid| one.put(pid));
        one
    }

    pub fn union(self, other: Pids) -> Pids {
        Pids(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    pub fn both(self, other: Pids) -> Pids {
        Pids(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    pub fn without(self, other: Pids) -> Pids {
        Pids(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    pub fn iter(self) -> impl Iterator<Item = Pid> {
        (0..=Pid::MAX).filter(move |pid| self.has(*pid))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fairness {
    #[default]
    None,
    Weak,
    Strong,
}

impl Fairness {
    pub const ALL: [Fairness; 3] = [Fairness::None, Fairness::Weak, Fairness::Strong];

    pub fn word(self) -> &'static str {
        match self {
            Fairness::None => "none",
            Fairness::Weak => "weak",
            Fairness::Strong => "strong",
        }
    }
}

/// All marks at once.
pub fn all_marks(n_marks: u32) -> u64 {
    debug_assert!(n_marks <= u64::BITS, "a mark is a bit of a word");
    if n_marks == 0 { 0 } else { u64::MAX >> (64 - n_marks) }
}

/// What the moves and states of a set say about the run that passes all of them for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary {
    pub marks: u64,
    /// Who moves.
    pub moved: Pids,
    /// Who is able to everywhere, and who somewhere.
    pub always: Pids,
    pub somewhere: Pids,
}

impl Summary {
    /// Of no state.
    pub fn nothing() -> Summary {
        let nobody = Pids::default();
        Summary { marks: 0, moved: nobody, always: Pids([u64::MAX; 4]), somewhere: nobody }
    }

    pub fn of_state(able: Pids) -> Summary {
        Summary { marks: 0, moved: Pids::default(), always: able, somewhere: able }
    }

    pub fn add_move(&mut self, marks: u64, pid: Option<Pid>) {
        self.marks |= marks;
        self.moved = self.moved.union(Pids::of(pid));
    }

    pub fn add(&mut self, other: &Summary) {
        self.marks |= other.marks;
        self.moved = self.moved.union(other.moved);
        self.always = self.always.both(other.always);
        self.somewhere = self.somewhere.union(other.somewhere);
    }

    /// Whether the run that passes everything is accepted and fair.
    pub fn is_accepted(&self, n_marks: u32, fairness: Fairness) -> bool {
        debug_assert!(self.moved.union(self.always).without(self.somewhere).is_empty(), "M4");
        debug_assert_eq!(self.marks & !all_marks(n_marks), 0, "M3");
        let unfair = match fairness {
            Fairness::None => Pids::default(),
            Fairness::Weak => self.always.without(self.moved),
            Fairness::Strong => self.somewhere.without(self.moved),
        };
        self.marks == all_marks(n_marks) && unfair.is_empty()
    }
}

/// A run: which of the initial states, the numbers of the moves up to the cycle, and those of the cycle. There is no
/// cycle if the last move of the stem ends the matter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    pub initial: usize,
    pub stem: Vec<u32>,
    pub cycle: Vec<u32>,
}

/// What to look for and when to stop.
#[derive(Clone, Debug)]
pub struct Request {
    pub fairness: Fairness,
    /// No path is longer.
    pub max_depth: Option<u32>,
    pub max_time: Option<Duration>,
    pub budget: Arc<Budget>,
    /// Threads that may search.
    pub jobs: usize,
}

impl Request {
    pub fn new(fairness: Fairness) -> Request {
        Request { fairness, max_depth: None, max_time: None, budget: Budget::unlimited(), jobs: 1 }
    }
}

/// A hint for keys as long as this one, learned from the runs' own.
pub(crate) fn learn<R: Runs>(runs: &R, key: &[u8]) -> Hint {
    let (mut desk, mut moves) = (runs.desk(), Moves::default());
    let mut steps = |from: &[u8], bytes: &mut Vec<u8>, keys: &mut Vec<Range<usize>>| {
        moves.clear();
        runs.moves_as(&mut desk, from, Wish::ALL, &mut moves);
        bytes.clone_from(&moves.keys);
        keys.clear();
        keys.extend(moves.all.iter().map(|m| m.to.clone()));
    };
    order::learn_by(&mut steps, key)
}

/// What came of a search for runs, which it tells by their moves, or as somebody else does.
#[derive(Clone, Debug)]
pub struct Searched<F = Lasso> {
    pub found: Option<F>,
    /// States and their moves, each initial state being the end of one, too.
    pub counters: Counters,
    /// `None`: everything was seen, or what was looked for was found.
    pub stopped: Option<Stopped>,
    /// Bytes held at the end, the store included.
    pub bytes: u64,
}

impl<F> Searched<F> {
    /// Not even the store found room.
    pub(crate) fn none(full: Full, budget: &Budget) -> Searched<F> {
        let stopped = Some(search::stopped_by(full, budget));
        Searched { found: None, counters: Counters::default(), stopped, bytes: budget.used() }
    }

    /// The same of what was found, told in another way.
    pub(crate) fn map<G>(self, told: impl FnOnce(F) -> G) -> Searched<G> {
        let Searched { found, counters, stopped, bytes } = self;
        Searched { found: found.map(told), counters, stopped, bytes }
    }
}

/// Whether to go on, for a search of one thread.
pub(crate) struct Pulse<'o> {
    signals: Signals,
    watch: Watch<'o>,
    pub(crate) max_depth: u64,
    /// A state was not expanded because it was too deep.
    cut: bool,
    beats: u32,
    pub counters: Counters,
    told: Counters,
}

/// Looking at the clock costs as much as some states do.
const BEATS: u32 = 256;

impl<'o> Pulse<'o> {
    pub fn new(request: &Request, observer: &'o mut dyn Observer) -> Pulse<'o> {
        Pulse {
            signals: Signals::new(request.max_time, &request.budget),
            watch: Watch::new(observer),
            max_depth: request.max_depth.map_or(u64::MAX, u64::from),
            cut: false,
            beats: 0,
            counters: Counters::default(),
            told: Counters::default(),
        }
    }

    /// Once for each state. `depth` is its place on the path, from 0.
    #[inline]
    pub fn beat(&mut self, depth: u64, moves: &Moves) -> Result<(), Halt> {
        self.counters.transitions += moves.all.len() as u64;
        self.counters.depth = self.counters.depth.max(depth);
        if moves.blind {
            return Err(self.signals.stop(Stopped::Blind));
        }
        self.again()
    }

    /// Once for each state that is visited again.
    #[inline]
    pub fn again(&mut self) -> Result<(), Halt> {
        self.beats += 1;
        if self.beats.is_multiple_of(BEATS) { self.look() } else { Ok(()) }
    }

    #[cold]
    fn look(&mut self) -> Result<(), Halt> {
        let (now, told) = (self.counters, self.told);
        self.told = now;
        // Who begins anew counts anew.
        let stored = now.stored.saturating_sub(told.stored);
        let transitions = now.transitions.saturating_sub(told.transitions);
        let mut news = News { stored, transitions, expanded: stored };
        self.signals.at_depth(now.depth);
        self.signals.look(&mut news)?;
        self.watch.tell(&self.signals, Some(now.depth))
    }

    pub fn full(&self, full: Full) -> Halt {
        self.signals.full(full)
    }

    /// The state at this place of the path is not expanded.
    pub fn too_deep(&mut self, depth: u64) -> bool {
        self.cut |= depth > self.max_depth;
        depth > self.max_depth
    }

    pub fn searched<F>(&self, found: Option<F>, request: &Request) -> Searched<F> {
        assert!(!self.cut || request.max_depth.is_some(), "only who has a limit is cut");
        let stopped = if found.is_some() { None } else { self.why() };
        Searched { found, counters: self.counters, stopped, bytes: request.budget.used() }
    }

    /// Why not everything was seen, if so.
    pub fn why(&self) -> Option<Stopped> {
        self.signals.why().or(self.cut.then_some(Stopped::Depth(self.max_depth as u32)))
    }
}
