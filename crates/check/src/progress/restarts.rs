//! Cycles without progress, depth-first again and again, with ever more progress.
//!
//! Source  [FaragoSchmitt] listings 3 and 4.
//! Fits    no fairness; any exact `Visited`. For comparison: it may go deeper in progress than it must.
//!
//! # The argument
//!   A round visits the states depth-first, along paths with at most so much progress; the next round allows one more, until
//!   nothing was cut. A move to the path closes a cycle, which is without progress if nothing was counted since the state
//!   it leads to, that state itself and the move included. The last round that cuts nothing is an ordinary depth-first
//!   search; that one alone may miss cycles (figure 2 of the paper), and so may each round, because it does not come to
//!   every state with as little progress as it could.
//!
//!   Let a cycle without progress exist. Of all states on such cycles let s be the first that a round visits, and C the
//!   component of s by moves without progress. From s the round may follow every such move, so it visits all of C before it
//!   leaves s. It finds a cycle, unless it comes to a state of C by a detour with progress while s is on the path: counts
//!   are higher there, so a move from it back to s does not look like a cycle without progress. In a round that comes to s
//!   with its count at the limit there are no detours; but a round may come to s with less, where a path was blocked before by
//!   a visit with more progress (figure 3). So nothing that is proved here keeps the rounds from missing a cycle; hence D3.
//!
//! # Where we leave the paper
//!   D1 frames instead of recursion; a round keeps what it visited beside the store, which only names states.
//!   D2 the state that a cycle closes at counts for the cycle. The listing compares counts that include it, and so reports
//!      cycles whose only progress state it is.
//!   D3 when a round has cut nothing and found nothing, a second search from every state has the last word (`nested`).
//!
//! # Invariants
//!   I1 a visited state has its place on the path exactly while it has a frame, and `LEFT` afterwards
//!   I2 counts do not decrease along the path, and none is above the limit
//!
//! # Owed
//!   O1 verdict = oracle                                         tests: random graphs; they count what rounds alone miss,
//!                                                               which was none so far: D3 is owed a graph that needs it
//!   O2 D2                                                       tests: the listing's form gives false alarms
//!
//! # Cost  each state expanded once a round; 21 to 43 bytes a state.

use super::walk::Walk;
use super::{At, Found, Ground, Searched, Which, nested};
use crate::cycles::Request;
use crate::cycles::open::Open;
use crate::observer::Observer;
use crate::search::Halt;
use crate::search::held::Held;
use spinor_store::{StateId, Visited};

pub use super::fifo::Form;

/// Visited, and not on the path.
const LEFT: u32 = u32::MAX;

pub fn search<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    request: &Request,
    observer: &mut dyn Observer,
) -> Searched {
    search_as(ground, store, Form::Repaired, request, observer).0
}

/// Beside what was found, the most progress that paths were allowed.
pub fn search_as<G: Ground, V: Visited>(
    ground: &G,
    store: &V,
    form: Form,
    request: &Request,
    observer: &mut dyn Observer,
) -> (Searched, u64) {
    let mut limit = 0;
    let searched = go(ground, store, request, observer, |walk, first| rounds(walk, first, form, &mut limit, request));
    (searched, limit)
}

/// One round that cuts nothing: depth-first search as it is. It misses cycles (figure 2), and is here to show that.
pub fn once<G: Ground, V: Visited>(ground: &G, store: &V, request: &Request, observer: &mut dyn Observer) -> Searched {
    let round = |walk: &mut Walk<'_, G, V>, first| Round::new(u32::MAX, Form::Repaired, request).go(walk, first);
    go(ground, store, request, observer, round)
}

fn go<'a, G: Ground, V: Visited>(
    ground: &'a G,
    store: &'a V,
    request: &Request,
    observer: &'a mut dyn Observer,
    search: impl FnOnce(&mut Walk<'a, G, V>, StateId) -> Result<Option<Found>, Halt>,
) -> Searched {
    assert!(V::EXACT, "a state is expanded from its name");
    let mut walk = Walk::new(ground, store, request, observer);
    let found = match walk.initial() {
        Ok(Some(first)) => search(&mut walk, first).unwrap_or(None),
        _ => None,
    };
    walk.pulse.counters.stored = store.len();
    walk.pulse.searched(found, request)
}

fn rounds<G: Ground, V: Visited>(
    walk: &mut Walk<'_, G, V>,
    first: StateId,
    form: Form,
    limit: &mut u64,
    request: &Request,
) -> Result<Option<Found>, Halt> {
    loop {
        walk.pulse.counters.transitions = 1;
        let mut round = Round::new(*limit as u32, form, request);
        let found = round.go(walk, first)?;
        if found.is_some() {
            return Ok(found);
        }
        if !round.pruned {
            // D3
            return if form == Form::Printed { Ok(None) } else { nested::last_look(walk, first, request) };
        }
        *limit += 1;
    }
}

#[derive(Clone, Copy)]
struct Frame {
    id: StateId,
    /// Where its moves still to be made begin.
    todo: usize,
    /// Progress on the path, this state and the step to it included.
    count: u32,
    progress: bool,
    made: bool,
}

struct Round {
    limit: u32,
    form: Form,
    pruned: bool,
    /// With the place on the path.
    visited: Open,
    frames: Held<Frame>,
    todo: Held<(StateId, bool)>,
}

impl Round {
    fn new(limit: u32, form: Form, request: &Request) -> Round {
        let budget = &request.budget;
        let (visited, frames, todo) = (Open::new(budget), Held::new(budget), Held::new(budget));
        Round { limit, form, pruned: false, visited, frames, todo }
    }

    fn go<G: Ground, V: Visited>(&mut self, walk: &mut Walk<'_, G, V>, first: StateId) -> Result<Option<Found>, Halt> {
        let progress = walk.bring(first);
        self.enter(walk, Frame { id: first, todo: 0, count: 0, progress, made: false })?;
        while let Some(&Frame { id, todo, count, .. }) = self.frames.last() {
            if self.todo.len() == todo {
                debug_assert_eq!(self.visited.get(id), Some(self.frames.len() as u32 - 1), "I1");
                self.visited.insert(id, LEFT).map_err(|full| walk.pulse.full(full))?;
                self.frames.pop();
                continue;
            }
            let (to, made) = self.todo.pop().expect("more than the frame's first");
            match self.visited.get(to) {
                Some(LEFT) => {}
                Some(at) => {
                    let closes = self.frames[at as usize];
                    debug_assert!(closes.id == to && closes.count <= count, "I1, I2");
                    // D2
                    let own = closes.progress && self.form == Form::Repaired;
                    if !made && closes.count == count && !own {
                        return Ok(Some(self.found(walk, at as usize)));
                    }
                }
                None => {
                    let progress = walk.bring(to);
                    let more = progress || made;
                    if more && count == self.limit {
                        self.pruned = true;
                    } else if !walk.pulse.too_deep(self.frames.len() as u64) {
                        self.enter(walk, Frame { id: to, todo: 0, count: count + u32::from(more), progress, made })?;
                    }
                }
            }
        }
        debug_assert!(self.todo.is_empty(), "no move is left");
        let is_whole = !self.pruned && walk.pulse.why().is_none();
        assert!(!is_whole || self.visited.len() as u64 == walk.store.len(), "who cuts nothing visits each state");
        Ok(None)
    }

    fn enter<G: Ground, V: Visited>(&mut self, walk: &mut Walk<'_, G, V>, frame: Frame) -> Result<(), Halt> {
        debug_assert!(self.frames.last().is_none_or(|below| below.count <= frame.count), "I2");
        debug_assert!(frame.count <= self.limit, "I2");
        debug_assert_eq!(self.visited.get(frame.id), None, "I1");
        walk.moves(Which::All)?;
        let laid = (|| {
            self.visited.insert(frame.id, self.frames.len() as u32)?;
            self.frames.push(Frame { todo: self.todo.len(), ..frame })?;
            let moves = walk.after.iter().zip(&walk.out.made).rev();
            moves.into_iter().try_for_each(|((to, _), made)| self.todo.push((*to, *made)))
        })();
        laid.map_err(|full| walk.pulse.full(full))?;
        walk.count(self.frames.len() - 1)
    }

    /// The path has everything.
    fn found<G: Ground, V: Visited>(&self, walk: &mut Walk<'_, G, V>, at: usize) -> Found {
        let level = u64::from(self.frames[at].count);
        let makes = |frame: &Frame| frame.progress || frame.made;
        let n_made = self.frames[1..=at].iter().filter(|frame| makes(frame)).count() as u64;
        assert_eq!(n_made, level, "I2: what is counted is the progress of the path");
        assert!(level <= u64::from(self.limit), "I2");
        assert!(!self.frames[at + 1..].iter().any(makes), "the cycle makes no progress");
        assert!(self.form == Form::Printed || !self.frames[at].progress, "D2");
        let all: Vec<At> = self.frames.iter().map(|f| At { key: walk.key(f.id), made: f.made }).collect();
        let (stem, cycle) = all.split_at(at);
        Found { stem: stem.to_vec(), cycle: cycle.to_vec(), level }
    }
}
