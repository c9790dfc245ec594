//! Accepting cycles by two interleaved depth-first searches.
//!
//! Source  [HPY96] figure 2 (`Target::Seed`) and figure 4 (`Target::Path`), sections 3 and 5.1; section 5.2 (`Nesting`).
//! Fits    one mark at most, and at states; no fairness (`fair` puts it into the states); exact stores.
//!
//! # What is accepting
//!   A state that has moves, all of them with the mark: a run that passes it infinitely often passes the mark so, too.
//!   If there are no marks, every state that has moves. A state with the mark at some of its moves and not at
//!   others is refused when it is met: the figures know accepting states only. A lasso found before that stands.
//!
//! # The argument
//!   first(s)   F1 give s its first bit and lay it on the path
//!              F2 for each successor t without the first bit: first(t)
//!              F3 if s is accepting: second(s), and s is the seed
//!              F4 take s off the path
//!   second(s)  S1 give s its second bit
//!              S2 for each successor t:
//!              S3   t is a target: it is on a cycle with the seed, report it
//!              S4   t has no second bit: second(t)
//!   The target is the seed alone (figure 2), or each state on the path (figure 4): from there the path leads to
//!   the seed. So what is reported is a cycle through an accepting state.
//!
//!   A seed s that is on a cycle is reported, if none was before. It is enough that no state from which s can be
//!   reached has its second bit when s becomes the seed. Say one has, from an earlier seed r; then r reaches s, and r
//!   left the path before s does. If s was on the path while r was the seed, s reaches r. If s had no first bit then,
//!   the way from r to s has a first state without one, and the state before that had moves left: it was on the path
//!   and reaches r. In both cases r was on a cycle, and it would have been reported.
//!
//! # On the fly
//!   With a proviso by the path the first search chooses which moves are left out: of the selections that a state has to
//!   offer (`Wish`), in their order, it takes the first without a move back to the path, the state itself included; all
//!   moves if there is none (*number*), or if the first one will not do (*bit*). The choice is remembered, and
//!   second searches repeat it: so both run through one graph, and the argument above is about it. A second
//!   search that chose by its own path would run through another graph. If it also passed the path, it would miss the
//!   cycle of `corpus/figures/hpy_figure_3.pml`; nor may it meet states without a choice, so the target is the path
//!   (5.1). If it stops at the path, it still goes where the first has not been (`hpy_section_5_2.pml`). We know
//!   no system whose answer becomes wrong by that alone: five million small random ones, and two million more
//!   that were bred for it, have none. But nothing is proved of two graphs, and of one it is.
//!   *Cycle*: on every cycle of that graph nothing is left out of some state. Of the states of a cycle let v be visited
//!   first. The others are visited while v is on the path, also the one before v, whose choice then has no move to v.
//!   What this says of runs: a move that is selected changes nothing that is looked at, and is independent of what
//!   comes before it (`reduce`). Let a state of the product have an accepted run, and take a claim in stutter form
//!   (`ltl/stutter_form`): where the automaton is, and which marks it has seen, does not depend on how often a letter is
//!   repeated. So the selected step that the run has first can be put in front of it, or any of them if it has none,
//!   with the automaton going the same way, and the number of steps up to the next mark has not grown behind that step.
//!   Where nothing is left out the run's own step is taken, and the number decreases. So marks come again and again.
//!   An automaton that counts repetitions may lose its run on the way [Siegel19]; `plan` refuses it. With fairness the
//!   run has a selected step in any case, and the same is said of who is waited for instead of marks (`reduce/repairs`).
//!
//! # Where we leave the paper
//!   D1 frames instead of recursion: depth costs heap, not thread stack.
//!   D2 S3 before S4. Figure 4 tests the second bit first and so goes on through the path; the prose of 5.1 stops
//!      there, and so do we. In figure 2 the order makes no difference, because the seed has its second bit;
//!      [Bosnacki-SYM] figure 1 is figure 2 in this order.
//!   D3 all successors of a state go to the store at once, before the first of them is visited. So being in the store
//!      does not mean being visited, and the first bit is a bit of its own.
//!   D4 several initial states, one after the other, with the same bits: the first search goes on where it was.
//!   D5 a second search that meets new states (I3) may meet one with a move that ends the matter before the first search
//!      does. Then that is found.
//!
//! # Invariants
//!   I1 a state is in `on_path` exactly while it has a frame of the first search
//!   I2 a seed has no second bit yet (the argument above). Where the first search was cut, a second one may have been
//!      ahead of it; such a seed is passed over, and what is not found then is not said to hold
//!   I3 with `Target::Path` a second search meets only states that have their first bit: those it goes through are off
//!      the path, or the seed, and have no moves left. (With `Target::Seed` it may pass the path and meet new
//!      states; then there is a cycle, and it will be found.)
//!   I4 the moves in `todo` from the uppermost frame's on are those that its state still has to make; the others have
//!      made one
//!   I5 a state's choice is remembered once, as it was made, and stays
//!   I6 if nothing is found, and nothing was too deep or left out on the fly, each stored state was visited
//!
//! # Owed
//!   O1 verdict = oracle, and the lasso is accepted              tests: random graphs
//!   O2 D2                                                       tests: the moves that the second search looks at
//!   O3 5.2, the choice kept between the searches                tests/figures.rs: the two models, each proviso, and
//!      the verdicts without it
//!   O4 the budget is not asked for bits beside a dense store: they are few beside the states
//!   (Lossy stores: `lossy`, whose frames hold their keys.)
//!
//! # Cost  each state expanded at most twice (once more for each selection that will not do); two bits a state, and a
//!   third for the path, where the store numbers its states densely, a set of names each where it does not; 24 bytes a
//!   frame, and a name for each move not made yet.

use super::{Lasso, Moves, Pulse, Request, Runs, Searched, all_marks};
use crate::observer::Observer;
use crate::reduce::Proviso;
use crate::search::Halt;
use crate::search::held::Held;
use crate::stores::{Bits, WithBits};
use spinor_model::successors::Wish;
use spinor_store::{Account, Budget, Full, StateId};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What the second search looks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The state it began at.
    Seed,
    /// Any state on the path of the first search.
    Path,
}

/// How the two searches go together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nesting {
    pub target: Target,
    /// If it is by the path, the first search chooses the moves of a state, and what it chose is remembered: which selection
    /// it was, or whether it was the first one or none.
    pub proviso: Proviso,
    /// That is forgotten, and the second search chooses by the two paths: wrong, for tests.
    pub forgets: bool,
}

impl Nesting {
    /// The moves of a state are always the same.
    pub fn to(target: Target) -> Nesting {
        Nesting { target, proviso: Proviso::None, forgets: false }
    }
}

/// What came of a search.
#[derive(Clone, Debug)]
pub struct Nested {
    /// The first search: the states it visited; their moves, and a move for each initial state it began at.
    pub searched: Searched,
    /// The moves of the states that second searches visited. SPIN reports these and the first search's together.
    pub second: u64,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// So many marks.
    ManyMarks(u32),
    /// The mark is at some moves of a state and not at others.
    AtMoves,
}

/// Why a search ends before it is through.
pub(super) enum End {
    Refused(Refused),
    Halt,
}

/// What a search comes to that is not refused.
pub(super) fn found(ended: Result<Option<Lasso>, End>) -> Result<Option<Lasso>, Refused> {
    match ended {
        Ok(found) => Ok(found),
        Err(End::Refused(refused)) => Err(refused),
        Err(End::Halt) => Ok(None),
    }
}

impl From<Refused> for End {
    fn from(refused: Refused) -> End {
        End::Refused(refused)
    }
}

impl From<Halt> for End {
    fn from(_: Halt) -> End {
        End::Halt
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::ManyMarks(n) => write!(f, "there are {n} marks, and nested search takes one at most"),
            Refused::AtMoves => f.write_str(
                "a mark is at some moves of a state and not at others, and nested search takes marks of states only",
            ),
        }
    }
}

impl std::error::Error for Refused {}

/// Bits that ask the budget before there are more of them. A hash table grows by doubling, and has the old one beside
/// the new one while it does; one place in eight stays free.
struct Kept<B> {
    bits: B,
    len: usize,
    room: usize,
    account: Account,
}

impl<B: Bits> Kept<B> {
    fn new(budget: &Arc<Budget>) -> Kept<B> {
        Kept { bits: B::default(), len: 0, room: 0, account: budget.account() }
    }

    fn has(&self, id: StateId) -> bool {
        self.bits.has(id)
    }

    fn put(&mut self, id: StateId) -> Result<bool, Full> {
        let before = self.room;
        if B::PLACE > 0 && self.len == before {
            self.room = (2 * before).max(56);
            self.account.charge(bytes_for::<B>(self.room))?;
        }
        let new = self.bits.put(id);
        self.len += usize::from(new);
        debug_assert!(B::PLACE == 0 || self.len <= self.room, "what is kept is paid for");
        if self.room != before {
            self.account.release(bytes_for::<B>(before));
        }
        Ok(new)
    }

    fn remove(&mut self, id: StateId) {
        debug_assert!(self.bits.has(id), "what is taken away was there");
        self.bits.remove(id);
        self.len -= 1;
    }
}

fn bytes_for<B: Bits>(room: usize) -> u64 {
    room as u64 / 7 * 8 * B::PLACE
}

/// Whether a state with these moves is accepting.
pub fn accepts(moves: &Moves, n_marks: u32) -> Result<bool, Refused> {
    if n_marks > 1 {
        return Err(Refused::ManyMarks(n_marks));
    }
    let all = all_marks(n_marks);
    let with = moves.all.iter().filter(|m| m.marks & all == all).count();
    match with {
        0 => Ok(false),
        _ if with == moves.all.len() => Ok(true),
        _ => Err(Refused::AtMoves),
    }
}

pub fn search<R: Runs, V: WithBits>(
    runs: &R,
    store: &V,
    target: Target,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    search_with(runs, store, Nesting::to(target), request, observer)
}

/// Where the moves are chosen the lasso has the numbers of all of them ([`Wish::ALL`]).
pub fn search_with<R: Runs, V: WithBits>(
    runs: &R,
    store: &V,
    way: Nesting,
    request: &Request,
    observer: &mut dyn Observer,
) -> Result<Nested, Refused> {
    let Nesting { target, proviso, forgets } = way;
    assert!(V::EXACT, "a state is expanded from its name");
    assert!(!runs.judges(), "what is closed here is a cycle, whoever moves in it");
    assert!(target == Target::Path || !proviso.is_path() || forgets, "the plan refuses it");
    assert!(proviso.is_path() || !forgets, "there is something to forget");
    if runs.n_marks() > 1 {
        return Err(Refused::ManyMarks(runs.n_marks()));
    }
    let mut dfs = Dfs {
        runs,
        store,
        way,
        hand: store.hand(),
        desk: runs.desk(),
        pulse: Pulse::new(request, observer),
        first: Kept::new(&request.budget),
        second: Kept::new(&request.budget),
        on_path: Kept::new(&request.budget),
        choices: (0..8).map(|_| Kept::new(&request.budget)).collect(),
        path: Path::new(&request.budget),
        nested: Path::new(&request.budget),
        n_second: 0,
        moves: Moves::default(),
        key: Vec::new(),
        keys: Vec::new(),
        out: Vec::new(),
    };
    let found = found(dfs.all())?;
    let through = found.is_none() && dfs.pulse.why().is_none();
    assert!(!through || proviso.is_path() || dfs.pulse.counters.stored == store.len(), "I6");
    Ok(Nested { searched: dfs.pulse.searched(found, request), second: dfs.n_second })
}

/// A state on the path of one of the searches.
#[derive(Clone, Copy)]
struct Frame {
    id: StateId,
    /// Its moves still to be made lie in `todo` from here to the next frame's, the next one last.
    todo: usize,
    n_moves: u32,
    accepting: bool,
}

struct Path {
    frames: Held<Frame>,
    todo: Held<StateId>,
}

impl Path {
    fn new(budget: &Arc<Budget>) -> Path {
        Path { frames: Held::new(budget), todo: Held::new(budget) }
    }

    fn push(&mut self, id: StateId, accepting: bool, successors: &[(StateId, bool)]) -> Result<(), Full> {
        self.frames.push(Frame { id, todo: self.todo.len(), n_moves: successors.len() as u32, accepting })?;
        successors.iter().rev().try_for_each(|(to, _)| self.todo.push(*to))
    }

    /// Makes the next move of the uppermost state, if it has one left.
    fn follow(&mut self) -> Option<StateId> {
        let frame = self.frames.last()?;
        debug_assert!((frame.todo..=frame.todo + frame.n_moves as usize).contains(&self.todo.len()), "I4");
        if self.todo.len() > frame.todo { self.todo.pop() } else { None }
    }

    /// The number of the move that a frame made last.
    fn made(&self, n: usize) -> u32 {
        let end = self.frames.get(n + 1).map_or(self.todo.len(), |next| next.todo);
        let left = (end - self.frames[n].todo) as u32;
        assert!(left < self.frames[n].n_moves, "I4");
        self.frames[n].n_moves - left - 1
    }
}

struct Dfs<'a, R: Runs, V: WithBits> {
    runs: &'a R,
    store: &'a V,
    way: Nesting,
    hand: V::Hand<'a>,
    desk: R::Desk,
    pulse: Pulse<'a>,
    first: Kept<V::Bits>,
    second: Kept<V::Bits>,
    on_path: Kept<V::Bits>,
    /// The choice at each state, in binary.
    choices: Vec<Kept<V::Bits>>,
    path: Path,
    /// The path of the second search, from the seed.
    nested: Path,
    n_second: u64,
    moves: Moves,
    key: Vec<u8>,
    keys: Vec<Range<usize>>,
    out: Vec<(StateId, bool)>,
}

/// What was found, with both paths as they are.
enum Here {
    /// A cycle is closed at this state of the path.
    Closes(StateId),
    /// The uppermost state has this move, which ends the matter: that of the second search, if there is one.
    Ends(u32),
}

impl<'a, R: Runs, V: WithBits> Dfs<'a, R, V> {
    fn all(&mut self) -> Result<Option<Lasso>, End> {
        let mut start = Moves::default();
        self.runs.initial(&mut self.desk, &mut start);
        for initial in 0..start.all.len() {
            let put = self.store.put(&mut self.hand, start.key(initial));
            let (id, _) = put.map_err(|full| self.pulse.full(full))?;
            self.pulse.counters.transitions += 1;
            if let Some(here) = self.from(id)? {
                return Ok(Some(self.lasso(initial, here)));
            }
        }
        Ok(None)
    }

    /// The first search, until something is found.
    fn from(&mut self, initial: StateId) -> Result<Option<Here>, End> {
        if self.first.put(initial).map_err(|full| self.pulse.full(full))?
            && let Some(nth) = self.enter(initial)?
        {
            return Ok(Some(Here::Ends(nth)));
        }
        while let Some(&Frame { id, accepting, .. }) = self.path.frames.last() {
            debug_assert_eq!(self.on_path.len, self.path.frames.len(), "I1");
            if let Some(to) = self.path.follow() {
                // F2; what is too deep may be met again in time.
                if !self.first.has(to) && !self.pulse.too_deep(self.path.frames.len() as u64) {
                    self.first.put(to).map_err(|full| self.pulse.full(full))?;
                    if let Some(nth) = self.enter(to)? {
                        return Ok(Some(Here::Ends(nth)));
                    }
                }
                continue;
            }
            if accepting && let Some(here) = self.cycle_from(id)? {
                return Ok(Some(here)); // F3
            }
            self.on_path.remove(id); // F4
            self.path.frames.pop();
        }
        debug_assert!(self.on_path.len == 0 && self.path.todo.is_empty(), "I1, I4");
        Ok(None)
    }

    /// F1. The number of a move that ends the matter, if there is one.
    fn enter(&mut self, id: StateId) -> Result<Option<u32>, End> {
        let accepting = self.choose(id)?;
        let new = self.on_path.put(id).map_err(|full| self.pulse.full(full))?;
        debug_assert!(new, "I1");
        let pushed = self.path.push(id, accepting, &self.out);
        pushed.map_err(|full| self.pulse.full(full))?;
        self.pulse.counters.stored += 1;
        self.pulse.beat(self.path.frames.len() as u64 - 1, &self.moves)?;
        Ok(self.moves.ends)
    }

    /// The second search.
    fn cycle_from(&mut self, seed: StateId) -> Result<Option<Here>, End> {
        if self.pulse.cut && self.second.has(seed) {
            return Ok(None); // I2
        }
        assert!(!self.second.has(seed) || self.way.forgets, "I2");
        debug_assert!(self.on_path.has(seed) && self.first.has(seed), "the seed is the last state of the path");
        debug_assert!(self.nested.frames.is_empty() && self.nested.todo.is_empty(), "I4");
        self.enter_nested(seed)?;
        while !self.nested.frames.is_empty() {
            let Some(to) = self.nested.follow() else {
                self.nested.frames.pop();
                continue;
            };
            let closes = match self.way.target {
                Target::Seed => to == seed,
                Target::Path => self.on_path.has(to),
            };
            if closes {
                return Ok(Some(Here::Closes(to))); // S3
            }
            let any = self.way.target == Target::Seed || self.pulse.cut || self.way.forgets;
            debug_assert!(any || self.first.has(to), "I3");
            // S4, D5
            if !self.second.has(to)
                && let Some(nth) = self.enter_nested(to)?
            {
                debug_assert!(any, "I3");
                return Ok(Some(Here::Ends(nth)));
            }
        }
        Ok(None)
    }

    /// S1. The number of a move that ends the matter, if there is one.
    fn enter_nested(&mut self, id: StateId) -> Result<Option<u32>, End> {
        self.second.put(id).map_err(|full| self.pulse.full(full))?;
        let accepting = if self.way.forgets { self.choose(id)? } else { self.expand(id, self.chosen(id))? };
        let pushed = self.nested.push(id, accepting, &self.out);
        pushed.map_err(|full| self.pulse.full(full))?;
        self.n_second += self.out.len() as u64;
        self.pulse.again()?;
        Ok(self.moves.ends)
    }

    /// What was chosen at a state.
    fn chosen(&self, id: StateId) -> Wish {
        let bit = |(n, plane): (usize, &Kept<V::Bits>)| u8::from(plane.has(id)) << n;
        let number = || self.choices.iter().enumerate().map(bit).sum();
        Wish { attempt: self.way.proviso.is_path().then(number), waited: None }
    }

    /// Expands a state by a selection without a move back to the path, and remembers it.
    fn choose(&mut self, id: StateId) -> Result<bool, End> {
        if !self.way.proviso.is_path() {
            return self.expand(id, Wish::default());
        }
        let mut attempt = 1;
        loop {
            let accepting = self.expand(id, Wish { attempt: Some(attempt), waited: None })?;
            let on = |to: StateId| {
                let nested = || self.way.forgets && self.nested.frames.iter().any(|frame| frame.id == to);
                to == id || self.on_path.has(to) || nested()
            };
            if attempt == 0 || self.moves.left_out && !self.out.iter().any(|(to, _)| on(*to)) {
                let planes = self.choices.iter_mut().enumerate().filter(|(n, _)| attempt >> n & 1 == 1);
                let put = planes.map(|(_, plane)| plane.put(id)).collect::<Result<Vec<bool>, Full>>();
                put.map_err(|full| self.pulse.full(full))?;
                debug_assert!(self.way.forgets || self.chosen(id).attempt == Some(attempt), "I5");
                debug_assert!(attempt != 0 || !self.moves.left_out, "nothing is left out of all moves");
                return Ok(accepting);
            }
            attempt = if self.moves.left_out { self.way.proviso.after(attempt) } else { 0 };
        }
    }

    /// The successors of a state into `out`, and whether it is accepting.
    fn expand(&mut self, id: StateId, wish: Wish) -> Result<bool, End> {
        self.store.load(&mut self.hand, id, &mut self.key);
        self.moves.clear();
        self.runs.moves_as(&mut self.desk, &self.key, wish, &mut self.moves);
        debug_assert!(self.moves.check_behind(0, self.runs.n_marks()), "M1, M2, M3");
        self.keys.clear();
        self.keys.extend(self.moves.all.iter().map(|m| m.to.clone()));
        let put = (|| {
            self.store.offer(&mut self.hand, &self.moves.keys, &self.keys)?;
            self.store.settle(&mut self.hand, &self.moves.keys, &self.keys, &mut self.out)
        })();
        put.map_err(|full| self.pulse.full(full))?;
        self.store.rest(&mut self.hand);
        Ok(accepts(&self.moves, self.runs.n_marks())?)
    }

    /// Along the path to where the cycle closes, on to the seed, and along the second search's path back.
    fn lasso(&mut self, initial: usize, here: Here) -> Lasso {
        let last = self.path.frames.len() - 1;
        let made = |path: &Path, n: usize| (path.frames[n].id, path.made(n));
        let mut stem: Vec<(StateId, u32)> = (0..last).map(|n| made(&self.path, n)).collect();
        let mut cycle = Vec::new();
        match here {
            Here::Ends(nth) => {
                let upper = self.nested.frames.last().unwrap_or(&self.path.frames[last]).id;
                stem.extend((1..self.nested.frames.len()).map(|n| made(&self.nested, n - 1)));
                stem.push((upper, nth));
            }
            Here::Closes(closes) => {
                let at = self.path.frames.iter().position(|frame| frame.id == closes).expect("targets are on the path");
                cycle = stem.split_off(at);
                cycle.extend((0..self.nested.frames.len()).map(|n| made(&self.nested, n)));
                debug_assert_eq!(cycle.first().map(|(id, _)| *id), Some(closes), "a cycle begins where it closes");
            }
        }
        let stem = stem.into_iter().map(|(id, nth)| self.number(id, nth)).collect();
        Lasso { initial, stem, cycle: cycle.into_iter().map(|(id, nth)| self.number(id, nth)).collect() }
    }

    /// The number of a move among all those of its state.
    fn number(&mut self, id: StateId, nth: u32) -> u32 {
        if !self.way.proviso.is_path() || self.way.forgets {
            return nth;
        }
        let (mut few, mut all, chosen) = (Moves::default(), Moves::default(), self.chosen(id));
        self.store.load(&mut self.hand, id, &mut self.key);
        self.runs.moves_as(&mut self.desk, &self.key, chosen, &mut few);
        self.runs.moves_as(&mut self.desk, &self.key, Wish::ALL, &mut all);
        few.number_in(nth, &all)
    }
}
