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
//! # Cost  each state expanded once, again in a component that is shown or taken apart.

use super::lasso::{Component, find_run};
use super::{Fairness, Lasso, Moves, Runs, Summary};
use spinor_model::ir::Pid;
use spinor_store::{Full, StateId, Visited};
use std::collections::HashMap;

/// An open state that is not visited yet.
const WAITING: u32 = u32::MAX;

/// What came of a search.
#[derive(Clone, Debug)]
pub struct Searched {
    pub found: Option<Lasso>,
    pub stored: u64,
    pub transitions: u64,
}

pub fn search<R: Runs, V: Visited>(runs: &R, store: &V, fairness: Fairness) -> Result<Searched, Full> {
    assert!(V::EXACT, "a state is expanded from its name");
    let mut dfs = Dfs {
        runs,
        store,
        fairness,
        hand: store.hand(),
        open: HashMap::new(),
        order: Vec::new(),
        frames: Vec::new(),
        todo: Vec::new(),
        roots: Vec::new(),
        transitions: 0,
        moves: Moves::default(),
        key: Vec::new(),
        out: Vec::new(),
    };
    let mut start = Moves::default();
    runs.initial(&mut start);
    let mut found = None;
    for initial in 0..start.all.len() {
        let (id, new) = store.put(&mut dfs.hand, start.key(initial))?;
        dfs.transitions += 1;
        if new && dfs.from(id)? {
            found = Some(dfs.lasso(initial)?);
            break;
        }
    }
    Ok(Searched { found, stored: store.len(), transitions: dfs.transitions })
}

/// A state on the path.
struct Frame {
    number: u32,
    /// Its moves still to be made lie in `todo` from here to the next frame's, the next one last.
    todo: usize,
    /// How many moves it has.
    n_moves: u32,
}

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

struct Dfs<'a, R, V: Visited> {
    runs: &'a R,
    store: &'a V,
    fairness: Fairness,
    hand: V::Hand<'a>,
    open: HashMap<StateId, u32>,
    /// The open states that were visited, by their numbers.
    order: Vec<StateId>,
    frames: Vec<Frame>,
    todo: Vec<Todo>,
    roots: Vec<Root>,
    transitions: u64,
    moves: Moves,
    key: Vec<u8>,
    out: Vec<(StateId, bool)>,
}

impl<'a, R: Runs, V: Visited> Dfs<'a, R, V> {
    /// Everything reachable from a new state. Stops with the path and the roots as they are if a component is accepted.
    fn from(&mut self, initial: StateId) -> Result<bool, Full> {
        self.visit(initial, 0, None)?;
        while let Some(frame) = self.frames.last() {
            if self.todo.len() == frame.todo {
                let number = frame.number;
                self.frames.pop();
                if self.roots.last().is_some_and(|root| root.number == number) && self.complete()? {
                    return Ok(true);
                }
                continue;
            }
            let Some(Todo { to, marks, pid }) = self.todo.pop() else { break };
            match self.open.get(&to).copied() {
                Some(WAITING) => self.visit(to, marks, pid)?,
                Some(number) if self.close(number, marks, pid) => return Ok(true),
                _ => {}
            }
        }
        Ok(false)
    }

    fn visit(&mut self, id: StateId, marks: u64, pid: Option<Pid>) -> Result<(), Full> {
        let number = self.order.len() as u32;
        assert!(number < WAITING, "a path of four thousand million states");
        self.open.insert(id, number);
        self.order.push(id);
        self.store.load(&mut self.hand, id, &mut self.key);
        self.moves.clear();
        self.runs.moves(&self.key, &mut self.moves);
        let keys: Vec<_> = self.moves.all.iter().map(|m| m.to.clone()).collect();
        self.store.offer(&mut self.hand, &self.moves.keys, &keys)?;
        self.store.settle(&mut self.hand, &self.moves.keys, &keys, &mut self.out)?;
        self.store.rest(&mut self.hand);
        self.transitions += keys.len() as u64;
        let frame = Frame { number, todo: self.todo.len(), n_moves: keys.len() as u32 };
        for (m, (to, new)) in self.moves.all.iter().zip(&self.out).rev() {
            if *new {
                self.open.insert(*to, WAITING);
            }
            self.todo.push(Todo { to: *to, marks: m.marks, pid: m.pid });
        }
        self.frames.push(frame);
        self.roots.push(Root { number, summary: Summary::of_state(self.moves.able), marks, pid });
        Ok(())
    }

    /// A move to an open state: everything above it is one component.
    fn close(&mut self, number: u32, marks: u64, pid: Option<Pid>) -> bool {
        let mut above: Option<Summary> = None;
        while let Some(root) = self.roots.pop_if(|root| root.number > number) {
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
            let component = Component::new(self.runs, self.store, &mut self.hand, &states)?;
            if component.accepted_part(self.runs.n_marks(), self.fairness).is_some() {
                return Ok(true);
            }
        }
        let root = self.roots.pop().expect("looked at above");
        for id in self.order.drain(root.number as usize..) {
            self.open.remove(&id);
        }
        Ok(false)
    }

    /// The run through the component that was accepted, which is the uppermost one.
    fn lasso(&mut self, initial: usize) -> Result<Lasso, Full> {
        let root = self.roots.last().expect("a component was accepted").number;
        // The path up to the component's first state. A frame has made all its moves but those to do; the last made is
        // the one to the next frame.
        let mut stem = Vec::new();
        for (n, frame) in self.frames.iter().enumerate() {
            if frame.number >= root {
                break;
            }
            let end = self.frames.get(n + 1).map_or(self.todo.len(), |next| next.todo);
            let left = (end - frame.todo) as u32;
            stem.push(frame.n_moves - left - 1);
        }
        let states = self.order[root as usize..].to_vec();
        let component = Component::new(self.runs, self.store, &mut self.hand, &states)?;
        let part = component.accepted_part(self.runs.n_marks(), self.fairness).expect("it was accepted");
        let (way, cycle) = find_run(&component, &part, 0, self.runs.n_marks(), self.fairness);
        stem.extend(way);
        Ok(Lasso { initial, stem, cycle })
    }
}
