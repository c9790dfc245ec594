//! Byte strings into state numbers.
//!
//! A search hands over the packed keys of the successors it made and learns for each its number and whether it
//! is new. This crate never interprets a key. What a search needs to remember about a state (marks, the parent
//! it was reached from) lives in side arrays indexed by the number, never in the key.

mod arena;
mod hash;
mod side;

pub use arena::Arena;
pub use hash::hash64;
pub use side::{Links, Marks};

use std::fmt;
use std::ops::Range;

/// The number of a stored state: 0, 1, 2, … in the order in which they were put.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StateId(pub u32);

impl StateId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Debug for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// The states met so far.
///
/// Numbers are dense and given in order, so that breadth-first search needs no queue: a level is a range.
pub trait Visited {
    /// Finds or puts each of the keys `bytes[range]`, in order: one answer per key, the number and whether it is
    /// new. A key that comes twice in one call is new at most once. `out` is cleared first.
    fn find_or_put_all(&mut self, bytes: &[u8], keys: &[Range<usize>], out: &mut Vec<(StateId, bool)>);

    /// The key, as it was put.
    fn get(&self, id: StateId) -> &[u8];

    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory held, in bytes.
    fn bytes(&self) -> u64;

    /// How many states may still be put before the numbers run out.
    fn room(&self) -> usize;
}
