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
//!   A cycle of the least level is not missed: of all states on such cycles take the one met first; what can be reached
//!   from it without progress is not in the store yet or leads to no such cycle, so the search goes on from it as
//!   depth-first search does, and that closes a cycle before it comes back.
//!
//!   Where steps make progress, the queue has the states before them, with those steps still to be done.
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
//!   I2 nothing but what searches begin at is in `open` when one begins
//!
//! # Owed
//!   O1 verdict and level = oracle             tests: random graphs, random models
//!   O2 D2                                     tests: the listing's form misses cycles
//!
//! # Cost  each state expanded once; 12 bytes and more for one on the path or waiting; 24 bytes for each progress.

use super::walk::{Entry, Walk};
use super::{Found, Ground, Searched, Which};
use crate::cycles::Request;
use crate::cycles::open::Open;
use crate::observer::Observer;
use crate::search::Halt;
use crate::search::held::Held;
use spinor_store::{StateId, Visited};

/// How many entries before its turn the state of one is fetched.
const AHEAD: usize = 2;
/// Waits for its turn.
const WAITS: u32 = u32::MAX;

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
    let mut fifo = Fifo {
        walk: Walk::new(ground, store, request, observer),
        form,
        queue: Held::new(budget),
        open: Open::new(budget),
        frames: Held::new(budget),
        todo: Held::new(budget),
        n_entered: 0,
    };
    let found = fifo.all().unwrap_or(None);
    let mut counters = fifo.walk.pulse.counters;
    counters.stored = fifo.walk.pulse.counters.stored.max(if found.is_some() { 0 } else { store.len() });
    let searched = fifo.walk.pulse.searched(None, request);
    let stopped = if found.is_some() { None } else { searched.stopped };
    Searched { found, counters, stopped, bytes: searched.bytes, limit: None }
}

struct Fifo<'a, G: Ground, V: Visited> {
    walk: Walk<'a, G, V>,
    form: Form,
    queue: Held<Entry>,
    open: Open,
    /// The path: a state, and where its moves still to be made begin in `todo`.
    frames: Held<(StateId, usize)>,
    todo: Held<StateId>,
    /// States that have been on the path.
    n_entered: u64,
}

impl<G: Ground, V: Visited> Fifo<'_, G, V> {
    fn all(&mut self) -> Result<Option<Found>, Halt> {
        let Some(first) = self.walk.initial()? else { return Ok(None) };
        self.lay(first, 0, first)?;
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
                for start in &starts {
                    self.open.insert(*start, WAITS).map_err(|full| self.walk.pulse.full(full))?;
                }
                starts
            } else {
                self.open.insert(id, WAITS).map_err(|full| self.walk.pulse.full(full))?;
                vec![id]
            };
            for start in starts {
                // An earlier one of them may have come there.
                if self.open.get(start) != Some(WAITS) {
                    continue;
                }
                if let Some(at) = self.from(start, next as u32)? {
                    // What waited was not looked at.
                    self.walk.pulse.counters.stored = self.n_entered;
                    let path: Vec<StateId> = self.frames.iter().map(|frame| frame.0).collect();
                    return self.walk.run(&self.queue, next as u32, &path, at).map(Some); // D5
                }
            }
            next += 1;
        }
        Ok(None)
    }

    fn lay(&mut self, id: StateId, parent: u32, from: StateId) -> Result<(), Halt> {
        self.walk.keep(id);
        self.walk.keep(from);
        self.queue.push(Entry { id, parent, from }).map_err(|full| self.walk.pulse.full(full))
    }

    /// Depth-first without progress. Where a cycle closes on the path.
    fn from(&mut self, start: StateId, entry: u32) -> Result<Option<usize>, Halt> {
        let progress = self.walk.bring(start);
        // D2
        let exempt = progress || self.form == Form::Printed && !self.walk.ground.by_steps();
        self.open.replace(start, WAITS, 0);
        self.enter(start, start, entry)?;
        while let Some(&(id, base)) = self.frames.last() {
            if self.todo.len() == base {
                self.open.remove(id);
                self.walk.let_go(id);
                self.frames.pop();
                continue;
            }
            let to = self.todo.pop().expect("more than the frame's first");
            match self.open.replace(to, WAITS, self.frames.len() as u32) {
                None => {}
                Some(WAITS) => {
                    if self.walk.bring(to) {
                        self.open.remove(to);
                        self.lay(to, entry, start)?;
                    } else if self.walk.pulse.too_deep(self.frames.len() as u64) {
                        self.open.replace(to, self.frames.len() as u32, WAITS);
                    } else {
                        self.enter(to, start, entry)?;
                    }
                }
                Some(0) if exempt => {}
                Some(at) => return Ok(Some(at as usize)),
            }
        }
        Ok(None)
    }

    /// A frame for the state that was brought last; `open` has its place.
    fn enter(&mut self, id: StateId, start: StateId, entry: u32) -> Result<(), Halt> {
        self.n_entered += 1;
        self.walk.moves(Which::Still)?;
        if self.walk.out.more {
            self.lay(id, entry, start)?;
        }
        let Walk { pulse, after, .. } = &self.walk;
        let laid = (|| {
            self.frames.push((id, self.todo.len()))?;
            for (to, new) in after.iter().rev() {
                if *new {
                    self.open.insert(*to, WAITS)?;
                } else if self.open.get(*to).is_none() {
                    continue;
                }
                self.todo.push(*to)?;
            }
            Ok(())
        })();
        laid.map_err(|full| pulse.full(full))?;
        self.walk.count(self.frames.len() - 1)
    }
}
