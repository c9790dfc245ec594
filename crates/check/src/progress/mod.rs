//! Cycles without progress.
//!
//! | file | is |
//! |---|---|
//! | this | what all of them go through and what they find |
//! | `meaning` | what makes progress: states or steps, of everybody or of some |
//! | `loops` | whether every loop of every process passes a label, so that there is nothing to search |
//! | `system` | a system as such a ground: the one place where a state is expanded |
//! | `fifo` | depth-first from what makes progress, in a queue |
//! | `levels` | the same, level by level, by any number of threads |
//! | `restarts` | depth-first again and again, with ever more progress |
//! | `nested` | a second depth-first search from every state |
//! | `walk` | what the depth-first ones have in common |
//! | `modes` | a second copy of the states for the part without progress, as `cycles` searches it |
//! | `answer` | from the question to a run that was replayed |
//! | `oracle`, `toy` | the whole graph, for tests; random graphs |
//!
//! # What is looked for
//!   A move makes progress or does not. A *cycle without progress* is a cycle that can be reached and none of whose moves makes
//!   progress. A run that ends is no cycle.
//!   Where progress is a matter of states, a move makes progress if it leads to a progress state: a cycle without such moves
//!   has no progress state, and the other way round. Nobody knows what a move leads to until the state after it
//!   is unpacked; so such moves are offered like all others, and the state says what it is when it is brought
//!   (`Ground::bring`).
//!   Where it is a matter of steps, the move says it (`Which`).
//!
//! # Levels
//!   The *level* of a state is the least number of moves that make progress on a way to it. A move without progress never
//!   leads to a higher level, so all states of a cycle without progress are of one level. The least level that has
//!   such a cycle is what the searches by levels find, and the way to it has as little progress as there can be.

pub mod answer;
pub mod fifo;
pub mod levels;
pub mod loops;
pub mod meaning;
pub mod modes;
pub mod nested;
pub mod oracle;
pub mod restarts;
pub mod system;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;
mod walk;

use crate::cycles;
use crate::reduce::commute::{Name, Sleep};
use spinor_model::successors::Batch;
use std::ops::Range;

/// States, and moves of which some make progress.
pub trait Ground: Sync {
    /// What one thread works with; it holds the state that was brought last.
    type Desk;
    fn desk(&self) -> Self::Desk;
    /// Nothing yet, with room for the moves of this ground.
    fn out(&self) -> Out;
    /// Appends the key of the state where runs begin; `false` if there is none.
    fn initial(&self, desk: &mut Self::Desk, key: &mut Vec<u8>) -> bool;
    /// Brings a state to the desk. Whether it is a progress state; where steps make progress none is.
    fn bring(&self, desk: &mut Self::Desk, key: &[u8]) -> bool;
    /// Appends moves of the state at the desk, always in the same order.
    fn moves(&self, desk: &mut Self::Desk, which: Which, out: &mut Out);
    /// It is the steps that make progress.
    fn by_steps(&self) -> bool;
    /// Moves have names, so that they can be asleep (`reduce/commute.rs`).
    fn knows_sleep(&self) -> bool {
        false
    }
    /// Like `moves` of those without progress, but moves that are asleep are counted and not appended. `sleep` holds the names
    /// of what was known before the move `by` was made; afterwards, which moves of this state are asleep.
    fn awake(&self, desk: &mut Self::Desk, _by: Name, sleep: &mut Sleep, out: &mut Out) {
        sleep.clear();
        self.moves(desk, Which::Still, out);
    }
}

/// Which moves are wanted. A move to a progress state counts as still: see the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    Still,
    Progress,
    All,
}

/// The moves of one state or of several.
#[derive(Clone, Debug, Default)]
pub struct Out {
    pub batch: Batch,
    /// Where the keys of the states after the moves lie in the batch.
    pub keys: Vec<Range<usize>>,
    /// For each key, if all moves were wanted: the step makes progress.
    pub made: Vec<bool>,
    /// The state asked about last has moves that make progress, whether they were wanted or not.
    pub more: bool,
    /// For each key, if names are known and were wanted; and how many more moves are asleep.
    pub names: Vec<Name>,
    pub n_asleep: u64,
}

impl Out {
    pub fn clear(&mut self) {
        self.batch.clear();
        self.keys.clear();
        self.made.clear();
        self.more = false;
        self.names.clear();
        self.n_asleep = 0;
    }

    pub fn key(&self, n: usize) -> &[u8] {
        &self.batch.keys[self.keys[n].clone()]
    }
}

/// A run, by the keys of its states. A move leads from each state to the next, and back from the last of the cycle to its
/// first, which follows the last of the stem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub stem: Vec<At>,
    pub cycle: Vec<At>,
    /// Moves of the stem that make progress, the one into the cycle included.
    pub level: u64,
}

/// A state, and whether the step that led to it makes progress; where progress is a matter of states, none does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct At {
    pub key: Vec<u8>,
    pub made: bool,
}

/// What came of a search.
pub type Searched = cycles::Searched<Found>;
