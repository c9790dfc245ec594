//! Cycles without progress by a second depth-first search from every state.
//!
//! Source  [HPY96] figure 5.
//! Fits    no fairness, no reduction; any exact `Visited`.
//!
//! # The argument
//!   first(s)   F1 give s its first bit, F2 first(t) for each successor t without one, F3 second(s)
//!   second(s)  S1 a progress state is left at once, S2 give s its second bit and lay it on the second path,
//!              S3 for each successor t by a step without progress: without a second bit, second(t); on the second path,
//!              report; S4 take s off the path
//!   All second searches together are one depth-first search of the part of the graph that makes no progress, begun
//!   anew at each of its states, so it meets its path iff that part has a cycle. The order in which they begin makes no
//!   difference to that; beginning when a state is left, the first path leads to it.
//!
//! # Where we leave the paper
//!   D1 frames instead of recursion.
//!   D2 all successors of a state go to the store at once, so the first bit is one of its own.
//!
//! # Invariants
//!   I1 in `visited` of a path a state has its place exactly while it has a frame there, and `LEFT` afterwards
//!   I2 the second path is empty, or begins at the uppermost state of the first
//!
//! # Owed
//!   O1 verdict = oracle    tests: random graphs, random models
//!
//! # Cost  each state expanded up to twice; 43 to 85 bytes a state for both tables.

use super::walk::Walk;
use super::{At, Found, Ground, Searched, Which};
use crate::cycles::Request;
use crate::cycles::open::Open;
use crate::observer::Observer;
use crate::search::Halt;
use crate::search::held::Held;
use spinor_store::{Budget, Full, StateId, Visited};
use std::sync::Arc;

const LEFT: u32 = u32::MAX;

pub fn search<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    assert!(V::EXACT, "a state is expanded from its name");
    let mut walk = Walk::new(ground, store, request, observer);
    let budget = &request.budget;
    let mut both = Both { first: Path::new(budget), second: Path::new(budget) };
    let found = match walk.initial() {
        Ok(Some(initial)) => both.all(&mut walk, initial).unwrap_or(None),
        _ => None,
    };
    walk.pulse.counters.stored = store.len();
    walk.pulse.searched(found, request)
}

/// The same for a search that has found nothing; its counts stay.
pub(super) fn last_look<G: Ground, V: Visited>(
    walk: &mut Walk<'_, G, V>,
    initial: StateId,
    request: &Request,
) -> Result<Option<Found>, Halt> {
    let counters = walk.pulse.counters;
    let budget = &request.budget;
    let found = Both { first: Path::new(budget), second: Path::new(budget) }.all(walk, initial);
    walk.pulse.counters = counters;
    found
}

/// A path, and what was visited.
struct Path {
    visited: Open,
    /// A state, where its moves still to be made begin, and whether the step to it makes progress.
    frames: Held<(StateId, usize, bool)>,
    todo: Held<(StateId, bool)>,
}

impl Path {
    fn new(budget: &Arc<Budget>) -> Path {
        Path { visited: Open::new(budget), frames: Held::new(budget), todo: Held::new(budget) }
    }

    fn enter(&mut self, id: StateId, made: bool, after: &[(StateId, bool)], makes: &[bool]) -> Result<(), Full> {
        debug_assert_eq!(self.visited.get(id), None, "I1");
        debug_assert!(makes.is_empty() || makes.len() == after.len(), "who is told of moves is told of each");
        self.visited.insert(id, self.frames.len() as u32)?;
        self.frames.push((id, self.todo.len(), made))?;
        let made = |n: usize| makes.get(n).copied().unwrap_or(false);
        (0..after.len()).rev().try_for_each(|n| self.todo.push((after[n].0, made(n))))
    }

    /// The next move of the uppermost state.
    fn follow(&mut self) -> Option<(StateId, bool)> {
        let (_, base, _) = *self.frames.last()?;
        if self.todo.len() > base { self.todo.pop() } else { None }
    }

    fn leave(&mut self) -> Result<(), Full> {
        let (id, base, _) = self.frames.pop().expect("there is one");
        debug_assert_eq!(self.visited.get(id), Some(self.frames.len() as u32), "I1");
        debug_assert_eq!(self.todo.len(), base, "its moves were all made");
        self.visited.insert(id, LEFT)
    }
}

struct Both {
    first: Path,
    second: Path,
}

impl Both {
    fn all<G: Ground, V: Visited>(
        &mut self,
        walk: &mut Walk<'_, G, V>,
        initial: StateId,
    ) -> Result<Option<Found>, Halt> {
        self.enter_first(walk, initial, false)?;
        while let Some(&(id, ..)) = self.first.frames.last() {
            if let Some((to, made)) = self.first.follow() {
                if self.first.visited.get(to).is_none() && !walk.pulse.too_deep(self.first.frames.len() as u64) {
                    self.enter_first(walk, to, made)?; // F2
                }
                continue;
            }
            if let Some(at) = self.cycle_from(walk, id)? {
                return Ok(Some(self.found(walk, at))); // F3
            }
            self.first.leave().map_err(|full| walk.pulse.full(full))?;
        }
        let is_whole = walk.pulse.why().is_none();
        assert!(!is_whole || self.first.visited.len() as u64 == walk.store.len(), "each state has its first bit");
        assert!(self.second.visited.len() <= self.first.visited.len(), "only what was visited is visited again");
        Ok(None)
    }

    fn enter_first<G: Ground, V: Visited>(
        &mut self,
        walk: &mut Walk<'_, G, V>,
        id: StateId,
        made: bool,
    ) -> Result<(), Halt> {
        walk.bring(id);
        walk.moves(Which::All)?;
        let laid = self.first.enter(id, made, &walk.after, &walk.out.made);
        laid.map_err(|full| walk.pulse.full(full))?;
        walk.count(self.first.frames.len() - 1)
    }

    /// Where the second search from this state meets its own path.
    fn cycle_from<G: Ground, V: Visited>(
        &mut self,
        walk: &mut Walk<'_, G, V>,
        seed: StateId,
    ) -> Result<Option<usize>, Halt> {
        debug_assert!(self.second.frames.is_empty() && self.second.todo.is_empty(), "I2");
        debug_assert_eq!(self.first.frames.last().map(|f| f.0), Some(seed), "I2");
        self.enter_second(walk, seed)?;
        while !self.second.frames.is_empty() {
            let Some((to, _)) = self.second.follow() else {
                self.second.leave().map_err(|full| walk.pulse.full(full))?;
                continue;
            };
            match self.second.visited.get(to) {
                None => self.enter_second(walk, to)?,
                Some(LEFT) => {}
                Some(at) => {
                    debug_assert_eq!(self.second.frames[at as usize].0, to, "I1");
                    return Ok(Some(at as usize));
                }
            }
        }
        Ok(None)
    }

    /// S1, S2
    fn enter_second<G: Ground, V: Visited>(&mut self, walk: &mut Walk<'_, G, V>, id: StateId) -> Result<(), Halt> {
        if self.second.visited.get(id).is_some() || walk.bring(id) {
            return Ok(());
        }
        walk.moves(Which::Still)?;
        self.second.enter(id, false, &walk.after, &[]).map_err(|full| walk.pulse.full(full))?;
        walk.pulse.again()
    }

    /// Along the first path to the seed, and along the second to where the cycle begins.
    fn found<G: Ground, V: Visited>(&self, walk: &mut Walk<'_, G, V>, at: usize) -> Found {
        debug_assert_eq!(self.first.frames.last().map(|f| f.0), self.second.frames.first().map(|f| f.0), "I2");
        let first = self.first.frames.iter().map(|(id, _, made)| (*id, *made));
        let second = self.second.frames.iter().skip(1).map(|(id, ..)| (*id, false));
        let all: Vec<(StateId, bool)> = first.chain(second).collect();
        let n_stem = self.first.frames.len() - 1 + at;
        assert!(!all[n_stem..].iter().any(|(id, _)| walk.bring(*id)), "the cycle makes no progress");
        assert!(!all[n_stem + 1..].iter().any(|(_, made)| *made), "nor does one of its steps");
        let level = (1..=n_stem).filter(|n| all[*n].1 || walk.bring(all[*n].0)).count() as u64;
        let all: Vec<At> = all.into_iter().map(|(id, made)| At { key: walk.key(id), made }).collect();
        let (stem, cycle) = all.split_at(n_stem);
        Found { stem: stem.to_vec(), cycle: cycle.to_vec(), level }
    }
}
