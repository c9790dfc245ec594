//! Components, found depth-first, as they grow.
//!
//! Source  components by a stack of roots, [Gabow00]; their acceptance as they grow, [Couvreur99]; strong fairness by taking
//!   components apart, [EmersonLei87].
//! Fits    generalised acceptance at moves; none, weak and strong fairness; any exact store.
//!
//! # The argument
//!   Depth-first with a stack of roots: below each root lies the part of its component that is known. A move to a
//!   state whose component is still open closes a cycle through all components above its own: they are one, and
//!   the summaries add up. The run that passes all of a component's moves for ever is accepted as soon as its summary
//!   says so; what is added later makes it only more so, and if even the whole component's summary does not
//!   say so, no part of it does, without fairness and with weak fairness: a mark that is missing in the whole is
//!   missing in each part, and a process that is able to move everywhere in the whole and never moves is
//!   so in each part.
//!   With strong fairness a part may do better than the whole, by avoiding states where a process is able to move that
//!   never does. So a component that is complete and has all marks is taken apart: such states are removed, and
//!   the components of the rest are looked at in the same way.
//!
//!   A state is put into the store when it is met. Until its component is complete it is in `open`, waiting for
//!   its turn or with its number; a state that is in the store and not there is done with.
//!
//!   A component lies in one part, so a move to a state of another part closes nothing: it matters only if that state
//!   is new. And in a barren part components do not matter at all: what is new there is visited once, by who met it, in
//!   any order, and needs no number. So up to sixteen new states of a barren part are expanded together, a *block*: the
//!   memory that the store needs for one arrives while another is worked on. The path is then one of blocks, and each state
//!   remembers from which state of the block before it was met.
//!
//! # Invariants
//!   I1 a frame's members are states of a barren part, or one state with a number
//!   I2 a state of a barren part is laid into `todo` once; one of another part only while it is open and not visited
//!   I3 the number of an open state is its place in `order`
//!   I4 numbers grow from root to root, and a frame with a number is in the uppermost component or above it
//!   I5 the states from the uppermost root on are connected when something is found, or they are complete
//!
//! # Owed
//!   O1 verdict = oracle, and the lasso is accepted and fair    tests: random graphs, with parts and without
//!
//! # Cost  each state expanded once, again in a component that is shown or taken apart, or on the way to it; 16 bytes and
//!   more for a state whose component is open, 24 for each that waits, 40 and more for one on the path.

use super::lasso::{Component, find_run};
use super::open::Open;
use super::{Fairness, Lasso, Moves, Part, Pids, Pulse, Request, Runs, Searched, Summary, all_marks};
use crate::observer::Observer;
use crate::search::Halt;
use crate::search::held::Held;
use spinor_model::ir::Pid;
use spinor_store::{Full, StateId, Visited};
use std::ops::Range;

/// An open state that is not visited yet.
const WAITING: u32 = u32::MAX;
/// A frame of a barren part.
const NO_NUMBER: u32 = u32::MAX;
/// So many states of a barren part are taken at once.
const BLOCK: usize = 16;
const _: () = assert!(BLOCK <= 1 << u8::BITS, "which member of a frame it is fits into a byte");
/// States visited for each one by which blocks grow.
const EARLY: u64 = 512;

pub fn search<R: Runs, V: Visited>(runs: &R, store: &V, request: &Request, observer: &mut dyn Observer) -> Searched {
    assert!(V::EXACT, "a state is expanded from its name");
    match request.fairness {
        _ if runs.judges() => search_by::<R, V, OnlyMarks>(runs, store, request, observer),
        Fairness::None => search_by::<R, V, OnlyMarks>(runs, store, request, observer),
        Fairness::Weak | Fairness::Strong => search_by::<R, V, Summary>(runs, store, request, observer),
    }
}

fn search_by<R: Runs, V: Visited, S: Sum>(
    runs: &R,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    let budget = &request.budget;
    let mut dfs: Dfs<'_, R, V, S> = Dfs {
        runs,
        store,
        fairness: request.fairness,
        n_marks: runs.n_marks(),
        hand: store.hand(),
        desk: runs.desk(),
        pulse: Pulse::new(request, observer),
        open: Open::new(budget),
        order: Held::new(budget),
        frames: Held::new(budget),
        members: Held::new(budget),
        todo: Held::new(budget),
        roots: Held::new(budget),
        moves: Moves::default(),
        key: Vec::new(),
        keys: Vec::new(),
        out: Vec::new(),
        numbers: Vec::new(),
        judged: None,
    };
    let ended = dfs.all();
    let (through, n_visited) = (matches!(ended, Ok(None)) && !dfs.pulse.cut, dfs.pulse.counters.stored);
    assert!(!through || n_visited == store.len(), "each state is visited once");
    let found = ended.unwrap_or(None);
    if found.is_none() {
        // Else it is the states that were visited until then.
        dfs.pulse.counters.stored = store.len();
    }
    dfs.pulse.searched(found, request)
}

/// What is kept of a component's summary: as much as matters.
trait Sum {
    fn of_state(able: Pids) -> Self;
    fn add_move(&mut self, marks: u64, pid: Option<Pid>);
    fn add(&mut self, other: &Self);
    fn marks(&self) -> u64;
    fn is_accepted(&self, n_marks: u32, fairness: Fairness) -> bool;
}

impl Sum for Summary {
    fn of_state(able: Pids) -> Summary {
        Summary::of_state(able)
    }

    fn add_move(&mut self, marks: u64, pid: Option<Pid>) {
        Summary::add_move(self, marks, pid);
    }

    fn add(&mut self, other: &Summary) {
        Summary::add(self, other);
    }

    fn marks(&self) -> u64 {
        self.marks
    }

    fn is_accepted(&self, n_marks: u32, fairness: Fairness) -> bool {
        Summary::is_accepted(self, n_marks, fairness)
    }
}

/// Nobody is asked who moves: without fairness, and where it is judged elsewhere.
struct OnlyMarks(u64);

impl Sum for OnlyMarks {
    fn of_state(_: Pids) -> OnlyMarks {
        OnlyMarks(0)
    }

    fn add_move(&mut self, marks: u64, _: Option<Pid>) {
        self.0 |= marks;
    }

    fn add(&mut self, other: &OnlyMarks) {
        self.0 |= other.0;
    }

    fn marks(&self) -> u64 {
        self.0
    }

    fn is_accepted(&self, n_marks: u32, _: Fairness) -> bool {
        self.0 == all_marks(n_marks)
    }
}

/// A state on the path, or a block of them.
struct Frame {
    number: u32,
    /// Its states lie in `members` from here to the next frame's.
    members: usize,
    /// What was met there and is still to be visited lies in `todo` from here to the next frame's, the next one last.
    todo: usize,
}

#[derive(Clone, Copy)]
struct Member {
    id: StateId,
    /// Which member of the frame before it was met from.
    from: u8,
}

#[derive(Clone, Copy)]
struct Todo {
    to: StateId,
    marks: u64,
    pid: Option<Pid>,
    /// Which member of its frame met it.
    from: u8,
    barren: bool,
}

/// The known part of a component.
struct Root<S> {
    /// The least number in it.
    number: u32,
    summary: S,
    /// The move that led into it.
    marks: u64,
    pid: Option<Pid>,
}

struct Dfs<'a, R: Runs, V: Visited, S> {
    runs: &'a R,
    store: &'a V,
    fairness: Fairness,
    n_marks: u32,
    hand: V::Hand<'a>,
    desk: R::Desk,
    pulse: Pulse<'a>,
    open: Open,
    /// The open states that were visited, by their numbers.
    order: Held<StateId>,
    /// The first one is none: what begins there are the runs.
    frames: Held<Frame>,
    members: Held<Member>,
    todo: Held<Todo>,
    roots: Held<Root<S>>,
    moves: Moves,
    key: Vec<u8>,
    keys: Vec<Range<usize>>,
    out: Vec<(StateId, bool)>,
    /// What `open` says about the ends of the moves at hand.
    numbers: Vec<Option<u32>>,
    /// The run in the uppermost component, if the runs judge.
    judged: Option<(Vec<u32>, Vec<u32>)>,
}

/// Where the search is when it has found something: paths and roots are as they are.
enum Here {
    /// The uppermost component is accepted.
    Accepted,
    /// This member of the uppermost frame has this move, which ends the matter.
    Ends(u8, u32),
}

impl<'a, R: Runs, V: Visited, S: Sum> Dfs<'a, R, V, S> {
    fn all(&mut self) -> Result<Option<Lasso>, Halt> {
        let mut start = Moves::default();
        self.runs.initial(&mut self.desk, &mut start);
        for initial in 0..start.all.len() {
            let key = start.key(initial);
            let put = self.store.put(&mut self.hand, key);
            let (id, new) = put.map_err(|full| self.pulse.full(full))?;
            self.pulse.counters.transitions += 1;
            if !new {
                continue;
            }
            let begun = self.begin(id, self.runs.part(key));
            begun.map_err(|full| self.pulse.full(full))?;
            if let Some(here) = self.go_on()? {
                let lasso = self.lasso(initial, here);
                return lasso.map(Some).map_err(|full| self.pulse.full(full));
            }
        }
        Ok(None)
    }

    fn begin(&mut self, id: StateId, part: Part) -> Result<(), Full> {
        assert!(self.frames.is_empty() && self.order.is_empty(), "what was met before is done with");
        self.frames.push(Frame { number: NO_NUMBER, members: 0, todo: 0 })?;
        if !part.barren {
            self.open.insert(id, WAITING)?;
        }
        self.todo.push(Todo { to: id, marks: 0, pid: None, from: 0, barren: part.barren })
    }

    /// Everything reachable from what is to be visited, until something is found.
    fn go_on(&mut self) -> Result<Option<Here>, Halt> {
        while let Some(frame) = self.frames.last() {
            if self.todo.len() == frame.todo {
                if self.leave().map_err(|full| self.pulse.full(full))? {
                    return Ok(Some(Here::Accepted));
                }
                continue;
            }
            debug_assert!(self.todo.len() > frame.todo, "what lies in `todo` is the uppermost frame's");
            let depth = self.frames.len() as u64 - 1;
            let next = *self.todo.last().expect("looked at above");
            let here = if next.barren {
                if self.pulse.too_deep(depth) {
                    self.todo.pop();
                    continue;
                }
                self.visit_block()
            } else {
                self.todo.pop();
                if self.pulse.max_depth < depth && self.open.get(next.to) == Some(WAITING) {
                    self.pulse.too_deep(depth);
                    continue;
                }
                let number = self.order.len() as u32;
                assert!(number < WAITING, "a path of four thousand million states");
                match self.open.replace(next.to, WAITING, number) {
                    Some(WAITING) => self.visit(next, number),
                    // It was met from elsewhere and visited in the meantime.
                    Some(number) if self.close(number, next.marks, next.pid) => return Ok(Some(Here::Accepted)),
                    _ => continue,
                }
            };
            let here = here.map_err(|full| self.pulse.full(full))?;
            self.pulse.beat(depth, &self.moves)?;
            if here.is_some() {
                return Ok(here);
            }
        }
        debug_assert!(self.roots.is_empty() && self.order.is_empty(), "every component is complete");
        debug_assert!(self.todo.is_empty() && self.members.is_empty(), "every frame was left");
        // What lies too deep waits for ever.
        debug_assert!(self.pulse.max_depth < u64::MAX || self.open.len() == 0, "I2");
        Ok(None)
    }

    /// Nothing is left to be done in the uppermost frame. Whether a component is complete, and accepted.
    fn leave(&mut self) -> Result<bool, Full> {
        let Frame { number, members, .. } = *self.frames.last().expect("there is one");
        debug_assert!(number == NO_NUMBER || self.members.len() == members + 1, "I1");
        debug_assert!(number == NO_NUMBER || self.roots.last().is_some_and(|root| root.number <= number), "I4");
        if number != NO_NUMBER && self.roots.last().is_some_and(|root| root.number == number) && self.complete()? {
            return Ok(true);
        }
        self.frames.pop();
        self.members.truncate(members);
        Ok(false)
    }

    /// The moves of a state, behind those at hand.
    #[inline]
    fn expand(&mut self, id: StateId) -> Result<(), Full> {
        let before = self.keys.len();
        self.store.load(&mut self.hand, id, &mut self.key);
        self.runs.moves(&mut self.desk, &self.key, &mut self.moves);
        debug_assert!(self.moves.check_behind(before, self.n_marks), "M1, M2, M3");
        self.keys.extend(self.moves.all[before..].iter().map(|m| m.to.clone()));
        self.store.offer(&mut self.hand, &self.moves.keys, &self.keys[before..])
    }

    fn settle(&mut self) -> Result<(), Full> {
        self.store.settle(&mut self.hand, &self.moves.keys, &self.keys, &mut self.out)?;
        debug_assert_eq!(self.out.len(), self.moves.all.len(), "a state after each move");
        self.store.rest(&mut self.hand);
        Ok(())
    }

    /// Visits some of the states of barren parts that are next.
    fn visit_block(&mut self) -> Result<Option<Here>, Full> {
        let frame = self.frames.last().expect("there is one");
        let first = self.members.len();
        // At first one by one: what is near should be found before anything is searched broadly.
        let most = (self.pulse.counters.stored / EARLY).clamp(1, BLOCK as u64) as usize;
        let n = self.todo[frame.todo..].iter().rev().take(most).take_while(|todo| todo.barren).count();
        debug_assert!((1..=BLOCK).contains(&n), "the next one is of a barren part");
        for _ in 0..n {
            let Todo { to, from, barren, .. } = self.todo.pop().expect("counted above");
            debug_assert!(barren, "I1");
            self.store.soon(&mut self.hand, to);
            self.members.push(Member { id: to, from })?;
        }
        self.pulse.counters.stored += n as u64;
        self.frames.push(Frame { number: NO_NUMBER, members: first, todo: self.todo.len() })?;
        self.moves.clear();
        self.keys.clear();
        let mut ends = [0; BLOCK];
        for (m, end) in ends.iter_mut().enumerate().take(n) {
            let before = self.moves.all.len() as u32;
            self.expand(self.members[first + m].id)?;
            debug_assert!(self.runs.part(&self.key).barren, "I1");
            if let Some(nth) = self.moves.ends {
                return Ok(Some(Here::Ends(m as u8, nth - before)));
            }
            if self.moves.blind {
                return Ok(None);
            }
            *end = self.moves.all.len();
        }
        self.settle()?;
        // Cycles are found elsewhere, so what is not barren is next.
        for barren in [true, false] {
            for m in (0..n).rev() {
                let start = if m == 0 { 0 } else { ends[m - 1] };
                for at in (start..ends[m]).rev() {
                    let (to, new) = self.out[at];
                    if new && self.runs.part(self.moves.key(at)).barren == barren {
                        self.meet(at, to, m as u8, barren)?;
                    }
                }
            }
        }
        Ok(None)
    }

    /// A new state.
    #[inline]
    fn meet(&mut self, at: usize, to: StateId, from: u8, barren: bool) -> Result<(), Full> {
        let m = &self.moves.all[at];
        let (marks, pid) = (m.marks, m.pid);
        if !barren {
            debug_assert!(self.open.get(to).is_none(), "I2");
            self.open.insert(to, WAITING)?;
        }
        self.todo.push(Todo { to, marks, pid, from, barren })
    }

    /// Visits an open state that has its number now.
    fn visit(&mut self, Todo { to: id, marks, pid, from, .. }: Todo, number: u32) -> Result<Option<Here>, Full> {
        debug_assert_eq!(self.order.len(), number as usize, "I3");
        debug_assert!(self.roots.last().is_none_or(|root| root.number < number), "I4");
        self.order.push(id)?;
        self.pulse.counters.stored += 1;
        self.moves.clear();
        self.keys.clear();
        self.expand(id)?;
        debug_assert!(!self.runs.part(&self.key).barren, "I1");
        let part = self.runs.part(&self.key).number;
        self.frames.push(Frame { number, members: self.members.len(), todo: self.todo.len() })?;
        self.members.push(Member { id, from })?;
        self.roots.push(Root { number, summary: S::of_state(self.moves.able), marks, pid })?;
        if let Some(nth) = self.moves.ends {
            return Ok(Some(Here::Ends(0, nth)));
        }
        self.settle()?;
        // What is new waits before it is asked for: a state may have two moves to it.
        self.numbers.clear();
        for (at, (to, new)) in self.out.iter().enumerate() {
            let there = self.runs.part(self.moves.key(at));
            if *new && !there.barren {
                debug_assert!(self.open.get(*to).is_none(), "I2");
                self.open.insert(*to, WAITING)?;
            }
            let number = if there.number != part && !*new {
                None
            } else if *new {
                Some(WAITING)
            } else {
                self.open.get(*to)
            };
            self.numbers.push(number);
        }
        for at in (0..self.out.len()).rev() {
            let Some(number) = self.numbers[at] else { continue };
            let m = &self.moves.all[at];
            let (to, marks, pid) = (self.out[at].0, m.marks, m.pid);
            if number == WAITING {
                let barren = self.runs.part(self.moves.key(at)).barren;
                debug_assert!(if barren { self.out[at].1 } else { self.open.get(to) == Some(WAITING) }, "I2");
                self.todo.push(Todo { to, marks, pid, from: 0, barren })?;
            } else if self.close(number, marks, pid) {
                return Ok(Some(Here::Accepted));
            }
        }
        Ok(None)
    }

    /// A move to an open state: everything above it is one component.
    fn close(&mut self, number: u32, marks: u64, pid: Option<Pid>) -> bool {
        debug_assert!((number as usize) < self.order.len(), "I3");
        let mut above: Option<S> = None;
        while self.roots.last().is_some_and(|root| root.number > number) {
            let root = self.roots.pop().expect("looked at above");
            let mut summary = root.summary;
            summary.add_move(root.marks, root.pid);
            match &mut above {
                Some(above) => above.add(&summary),
                None => above = Some(summary),
            }
        }
        let root = self.roots.last_mut().expect("the first state has a root");
        if let Some(above) = above {
            root.summary.add(&above);
        }
        root.summary.add_move(marks, pid);
        // What is judged is judged when it is complete.
        !self.runs.judges() && root.summary.is_accepted(self.n_marks, self.fairness)
    }

    /// The uppermost component is complete. Whether some part of it is accepted after all.
    fn complete(&mut self) -> Result<bool, Full> {
        let Some(root) = self.roots.last() else { return Ok(false) };
        if self.runs.judges() {
            if root.summary.marks() == all_marks(self.n_marks) {
                let states = self.order[root.number as usize..].to_vec();
                self.judged = self.runs.judge(&mut self.desk, self.store, &mut self.hand, &states)?;
            }
            if self.judged.is_some() {
                return Ok(true);
            }
        } else if self.fairness == Fairness::Strong && root.summary.marks() == all_marks(self.n_marks) {
            let states = self.order[root.number as usize..].to_vec();
            let component = Component::new(self.runs, &mut self.desk, self.store, &mut self.hand, &states)?;
            debug_assert!(component.is_connected(), "I5");
            if component.accepted_part(self.n_marks, self.fairness).is_some() {
                return Ok(true);
            }
        }
        let root = self.roots.pop().expect("looked at above").number as usize;
        debug_assert!(self.order[root..].iter().zip(root..).all(|(id, n)| self.open.get(*id) == Some(n as u32)), "I3");
        self.open.remove_all(&self.order[root..]);
        self.order.truncate(root);
        Ok(false)
    }

    /// The moves that lead to a member of a frame.
    fn path(&mut self, frame: usize, member: u8) -> Vec<u32> {
        let (mut states, mut member) = (Vec::new(), member);
        for frame in self.frames[1..=frame].iter().rev() {
            let Member { id, from } = self.members[frame.members + usize::from(member)];
            states.push(id);
            member = from;
        }
        assert_eq!(member, 0, "the first state was met from nowhere");
        states.reverse();
        let (mut made, mut to) = (Vec::new(), Vec::new());
        for two in states.windows(2) {
            self.store.load(&mut self.hand, two[1], &mut to);
            self.store.load(&mut self.hand, two[0], &mut self.key);
            self.moves.clear();
            self.runs.moves(&mut self.desk, &self.key, &mut self.moves);
            let nth = (0..self.moves.all.len()).position(|nth| self.moves.key(nth) == to);
            made.push(nth.expect("it was met from there") as u32);
        }
        made
    }

    fn lasso(&mut self, initial: usize, here: Here) -> Result<Lasso, Full> {
        if let Here::Ends(member, nth) = here {
            let mut stem = self.path(self.frames.len() - 1, member);
            stem.push(nth);
            return Ok(Lasso { initial, stem, cycle: Vec::new() });
        }
        let root = self.roots.last().expect("a component was accepted").number;
        let states = self.order[root as usize..].to_vec();
        let at = self.frames.iter().position(|frame| frame.number == root).expect("a root is on the path");
        let mut stem = self.path(at, 0);
        if let Some((way, cycle)) = self.judged.take() {
            assert!(self.runs.judges() && !cycle.is_empty(), "who judges says which moves repeat");
            stem.extend(way);
            return Ok(Lasso { initial, stem, cycle });
        }
        let component = Component::new(self.runs, &mut self.desk, self.store, &mut self.hand, &states)?;
        debug_assert!(component.is_connected(), "I5");
        let part = component.accepted_part(self.n_marks, self.fairness).expect("it was accepted");
        let (way, cycle) = find_run(&component, &part, 0, self.n_marks, self.fairness);
        stem.extend(way);
        Ok(Lasso { initial, stem, cycle })
    }
}
