//! Runs that never end: searches for one that is accepted, and fair.
//!
//! | file | is |
//! |---|---|
//! | this | what all of them go through and what they find |
//! | `scc` | components with generalised acceptance, the default |
//! | `ndfs` | nested depth-first search, for one mark at states |
//! | `fair` | weak fairness put into the states, for nested search |
//! | `lasso` | a run inside a component |
//! | `product` | a system beside an automaton |
//! | `oracle` | the whole graph, for tests |
//! | `toy` | random graphs, for tests |
//!
//! # What is accepted
//!   A run is accepted if it passes moves with every mark infinitely often. It is weakly fair if no process is, from some
//!   point on, always able to move and never moves; strongly fair if no process is infinitely often able to move and
//!   moves only finitely often. Who is able to move, and whose a move is, the system says.

pub mod fair;
pub mod lasso;
pub mod ndfs;
#[cfg(test)]
mod ndfs_tests;
pub mod oracle;
pub mod product;
pub mod scc;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;

use spinor_model::ir::Pid;
use std::ops::Range;

/// States and moves, with acceptance and owners: a system beside an automaton, or a graph.
pub trait Runs: Sync {
    /// As many different marks as there are; 64 at most.
    fn n_marks(&self) -> u32;
    /// Appends the keys of the states where runs begin.
    fn initial(&self, out: &mut Moves);
    /// The moves of a state, always in the same order. A state without moves has no run.
    fn moves(&self, key: &[u8], out: &mut Moves);
}

/// The moves of one state.
#[derive(Clone, Debug, Default)]
pub struct Moves {
    pub keys: Vec<u8>,
    pub all: Vec<Move>,
    /// The processes that are able to move here.
    pub able: Pids,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// Where the key of the state after it lies.
    pub to: Range<usize>,
    pub marks: u64,
    /// Whose it is; nobody's if the automaton moves alone.
    pub pid: Option<Pid>,
}

impl Moves {
    pub fn clear(&mut self) {
        self.keys.clear();
        self.all.clear();
        self.able = Pids::default();
    }

    pub fn push(&mut self, key: &[u8], marks: u64, pid: Option<Pid>) {
        let from = self.keys.len();
        self.keys.extend_from_slice(key);
        self.all.push(Move { to: from..self.keys.len(), marks, pid });
    }

    pub fn key(&self, n: usize) -> &[u8] {
        &self.keys[self.all[n].to.clone()]
    }
}

/// A set of processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pids([u64; 4]);

impl Pids {
    pub fn put(&mut self, pid: Pid) {
        self.0[usize::from(pid) / 64] |= 1 << (pid % 64);
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

/// All marks at once.
pub fn all_marks(n_marks: u32) -> u64 {
    if n_marks == 0 { 0 } else { u64::MAX >> (64 - n_marks) }
}

/// What the moves and states of a set say about the run that passes all of them for ever.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    pub marks: u64,
    /// Who moves.
    pub moved: Pids,
    /// Who is able to everywhere, and who somewhere.
    pub always: Pids,
    pub somewhere: Pids,
}

impl Summary {
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
        let unfair = match fairness {
            Fairness::None => Pids::default(),
            Fairness::Weak => self.always.without(self.moved),
            Fairness::Strong => self.somewhere.without(self.moved),
        };
        self.marks == all_marks(n_marks) && unfair.is_empty()
    }
}

/// A run: which of the initial states, the numbers of the moves up to the cycle, and those of the cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    pub initial: usize,
    pub stem: Vec<u32>,
    pub cycle: Vec<u32>,
}
