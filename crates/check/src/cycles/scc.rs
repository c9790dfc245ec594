//! Components, found depth-first, as they grow.
//!
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
//! # Owed
//!   O1 verdict = oracle, and the lasso is accepted and fair    tests: random graphs
//!
//! # Cost  each state expanded once, again in a component that is shown or taken apart; 16 bytes and more for a state whose
//!   component is open, 24 for one on the path and for each of its moves.

use super::lasso::{Component, find_run};
use super::open::Open;
use super::{Fairness, Lasso, Moves, Pulse, Request, Runs, Searched, Summary};
use crate::observer::Observer;
use crate::search::Halt;
use crate::search::held::Held;
use spinor_model::ir::Pid;
use spinor_store::{Full, StateId, Visited};
use std::ops::Range;

/// An open state that is not visited yet.
const WAITING: u32 = u32::MAX;

pub fn search<R: Runs, V: Visited>(runs: &R, store: &V, request: &Request, observer: &mut dyn Observer) -> Searched {
    assert!(V::EXACT, "a state is expanded from its name");
    let budget = &request.budget;
    let mut dfs = Dfs {
        runs,
        store,
        fairness: request.fairness,
        hand: store.hand(),
        desk: runs.desk(),
        pulse: Pulse::new(request, observer),
        open: Open::new(budget),
        order: Held::new(budget),
        frames: Held::new(budget),
        todo: Held::new(budget),
        roots: Held::new(budget),
        moves: Moves::default(),
        key: Vec::new(),
        keys: Vec::new(),
        out: Vec::new(),
    };
    let found = dfs.all().unwrap_or(None);
    dfs.pulse.counters.stored = store.len();
    dfs.pulse.searched(found, request)
}

/// A state on the path.
struct Frame {
    number: u32,
    /// How many moves it has.
    n_moves: u32,
    /// Its moves still to be made lie in `todo` from here to the next frame's, the next one last.
    todo: usize,
}

#[derive(Clone, Copy)]
struct Todo {
    to: StateId,
    marks: u64,
    pid: Option<Pid>,
}

/// The known part of a component.
struct Root {
    /// The least number in it.
    number: u32,
    summary: Summary,
    /// The move that led into it.
    marks: u64,
    pid: Option<Pid>,
}

struct Dfs<'a, R: Runs, V: Visited> {
    runs: &'a R,
    store: &'a V,
    fairness: Fairness,
    hand: V::Hand<'a>,
    desk: R::Desk,
    pulse: Pulse<'a>,
    open: Open,
    /// The open states that were visited, by their numbers.
    order: Held<StateId>,
    frames: Held<Frame>,
    todo: Held<Todo>,
    roots: Held<Root>,
    moves: Moves,
    key: Vec<u8>,
    keys: Vec<Range<usize>>,
    out: Vec<(StateId, bool)>,
}

/// Where the search is when it has found something: paths and roots are as they are.
enum Here {
    /// The uppermost component is accepted.
    Accepted,
    /// The uppermost state has this move, which ends the matter.
    Ends(u32),
}

impl<'a, R: Runs, V: Visited> Dfs<'a, R, V> {
    fn all(&mut self) -> Result<Option<Lasso>, Halt> {
        let mut start = Moves::default();
        self.runs.initial(&mut self.desk, &mut start);
        for initial in 0..start.all.len() {
            let put = self.store.put(&mut self.hand, start.key(initial));
            let (id, new) = put.map_err(|full| self.pulse.full(full))?;
            self.pulse.counters.transitions += 1;
            if !new {
                continue;
            }
            if let Some(here) = self.from(id)? {
                let lasso = self.lasso(initial, here);
                return lasso.map(Some).map_err(|full| self.pulse.full(full));
            }
        }
        Ok(None)
    }

    /// Everything reachable from a new state, until something is found.
    fn from(&mut self, initial: StateId) -> Result<Option<Here>, Halt> {
        if let Some(here) = self.visit(initial, 0, None)? {
            return Ok(Some(here));
        }
        while let Some(frame) = self.frames.last() {
            if self.todo.len() == frame.todo {
                let number = frame.number;
                self.frames.pop();
                if self.roots.last().is_some_and(|root| root.number == number) {
                    let accepted = self.complete();
                    if accepted.map_err(|full| self.pulse.full(full))? {
                        return Ok(Some(Here::Accepted));
                    }
                }
                continue;
            }
            let Some(Todo { to, marks, pid }) = self.todo.pop() else { break };
            match self.open.get(to) {
                Some(WAITING) => {
                    if let Some(here) = self.visit(to, marks, pid)? {
                        return Ok(Some(here));
                    }
                }
                Some(number) if self.close(number, marks, pid) => return Ok(Some(Here::Accepted)),
                _ => {}
            }
        }
        Ok(None)
    }

    fn visit(&mut self, id: StateId, marks: u64, pid: Option<Pid>) -> Result<Option<Here>, Halt> {
        let depth = self.frames.len() as u64;
        if self.pulse.too_deep(depth) {
            return Ok(None);
        }
        let entered = self.enter(id, marks, pid);
        entered.map_err(|full| self.pulse.full(full))?;
        self.pulse.counters.stored += 1;
        self.pulse.beat(depth, &self.moves)?;
        Ok(self.moves.ends.map(Here::Ends))
    }

    fn enter(&mut self, id: StateId, marks: u64, pid: Option<Pid>) -> Result<(), Full> {
        let number = self.order.len() as u32;
        assert!(number < WAITING, "a path of four thousand million states");
        self.open.insert(id, number)?;
        self.order.push(id)?;
        self.store.load(&mut self.hand, id, &mut self.key);
        self.moves.clear();
        self.runs.moves(&mut self.desk, &self.key, &mut self.moves);
        self.keys.clear();
        self.keys.extend(self.moves.all.iter().map(|m| m.to.clone()));
        self.store.offer(&mut self.hand, &self.moves.keys, &self.keys)?;
        self.store.settle(&mut self.hand, &self.moves.keys, &self.keys, &mut self.out)?;
        self.store.rest(&mut self.hand);
        self.frames.push(Frame { number, todo: self.todo.len(), n_moves: self.keys.len() as u32 })?;
        for (m, (to, new)) in self.moves.all.iter().zip(&self.out).rev() {
            if *new {
                self.open.insert(*to, WAITING)?;
            }
            self.todo.push(Todo { to: *to, marks: m.marks, pid: m.pid })?;
        }
        self.roots.push(Root { number, summary: Summary::of_state(self.moves.able), marks, pid })
    }

    /// A move to an open state: everything above it is one component.
    fn close(&mut self, number: u32, marks: u64, pid: Option<Pid>) -> bool {
        let mut above: Option<Summary> = None;
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
        root.summary.is_accepted(self.runs.n_marks(), self.fairness)
    }

    /// The uppermost component is complete. Whether some part of it is accepted after all.
    fn complete(&mut self) -> Result<bool, Full> {
        let Some(root) = self.roots.last() else { return Ok(false) };
        if self.fairness == Fairness::Strong && root.summary.marks == super::all_marks(self.runs.n_marks()) {
            let states = self.order[root.number as usize..].to_vec();
            let component = Component::new(self.runs, &mut self.desk, self.store, &mut self.hand, &states)?;
            if component.accepted_part(self.runs.n_marks(), self.fairness).is_some() {
                return Ok(true);
            }
        }
        let root = self.roots.pop().expect("looked at above").number as usize;
        for id in &self.order[root..] {
            self.open.remove(*id);
        }
        self.order.truncate(root);
        Ok(false)
    }

    /// The moves of the frames up to the one with this number. A frame has made all its moves but those to do; the last
    /// made is the one to the next frame.
    fn path(&self, number: u32) -> Vec<u32> {
        let until = self.frames.iter().take_while(|frame| frame.number < number);
        let made = until.enumerate().map(|(n, frame)| {
            let end = self.frames.get(n + 1).map_or(self.todo.len(), |next| next.todo);
            frame.n_moves - (end - frame.todo) as u32 - 1
        });
        made.collect()
    }

    fn lasso(&mut self, initial: usize, here: Here) -> Result<Lasso, Full> {
        if let Here::Ends(nth) = here {
            let last = self.frames.last().expect("the state that was visited").number;
            let mut stem = self.path(last);
            stem.push(nth);
            return Ok(Lasso { initial, stem, cycle: Vec::new() });
        }
        let root = self.roots.last().expect("a component was accepted").number;
        let mut stem = self.path(root);
        let states = self.order[root as usize..].to_vec();
        let component = Component::new(self.runs, &mut self.desk, self.store, &mut self.hand, &states)?;
        let part = component.accepted_part(self.runs.n_marks(), self.fairness).expect("it was accepted");
        let (way, cycle) = find_run(&component, &part, 0, self.runs.n_marks(), self.fairness);
        stem.extend(way);
        Ok(Lasso { initial, stem, cycle })
    }
}
