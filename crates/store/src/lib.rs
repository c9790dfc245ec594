//! Byte strings into state names.
//!
//! A search hands over the packed keys of the successors it made and learns for each its name and whether it is
//! new. This crate never interprets a key. What a search needs to remember about a state lives beside the
//! store, never in the key.
//!
//! | store | exact | for |
//! |---|---|---|
//! | [`Arena`] | yes | being obviously right: the oracle of the others |
//! | [`Compact`] | yes | most searches: small and fast, for many threads |
//! | [`HashCompact`] | no | keys that share little: a state is 64 bits of hash |
//! | [`Bitstate`] | no | state spaces larger than memory: a state is a few bits |
//!
//! The lock-free inserts are tested in all schedules of two threads by
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p spinor-store --release --lib loom`.

mod arena;
mod bitstate;
mod budget;
mod cards;
mod compact;
mod direct;
mod fold;
mod growth;
mod hash;
mod hash_compact;
mod log;
mod memory;
mod nodes;
mod plan;
mod recent;
mod roots;
mod side;
mod sync;
#[cfg(all(test, not(loom)))]
mod testing;

pub use arena::{Arena, ArenaHand};
pub use bitstate::{BitHand, Bitstate};
pub use budget::{Account, Budget, Full};
pub use cards::{Cards, CardsHand, Laid};
pub use compact::{Compact, CompactHand, Hint, Hints};
pub use hash::hash64;
pub use hash_compact::{HashCompact, HashHand};
pub use log::Log;
pub use recent::Recent;
pub use side::Marks;

use std::fmt;
use std::ops::Range;

/// Names a stored state for as long as its store lives. What the number means is the store's business: a
/// place in an [`Arena`], the content in a tree, a hash in a lossy store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct StateId(pub u64);

impl StateId {
    /// For side arrays, where the store numbers its states densely.
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
/// Keys go in two steps, so that cache misses overlap: `offer` says what will be asked and starts the memory
/// moving, `settle` answers. Between two settles a thread may load and offer as often as it likes.
pub trait Visited: Sync {
    /// What one thread needs for working with the store: the state loaded last, the keys offered and not yet
    /// settled. It is made in the thread that uses it, and may hold a lock that keeps the tables from growing.
    type Hand<'s>
    where
        Self: 's;

    /// Whether `load` gives back what was put and `new == false` is certain.
    const EXACT: bool;

    fn hand(&self) -> Self::Hand<'_>;

    /// The key of `id` into `key`, which is cleared first. It becomes the base of the next offers: keys that
    /// differ little from it are cheap. Panics if the store does not keep keys (`!EXACT`).
    fn load(&self, hand: &mut Self::Hand<'_>, id: StateId, key: &mut Vec<u8>);

    /// `id` will be loaded soon.
    #[inline]
    fn soon(&self, _hand: &mut Self::Hand<'_>, _id: StateId) {}

    /// Announces the keys `bytes[range]`. If it is `Full`, nothing stays announced in this hand, and no more
    /// keys can be put.
    fn offer(&self, hand: &mut Self::Hand<'_>, bytes: &[u8], keys: &[Range<usize>]) -> Result<(), Full>;

    /// Finds or puts all keys announced since the last settle, in order; `bytes` and `keys` are those of all
    /// these offers together. One answer per key: its name, and whether it is new. A key that comes twice in one
    /// call is new at most once; over all threads each key is new exactly once. `out` is cleared first. If it is
    /// `Full`, `out` has the answers of the keys that found room, and nothing stays announced.
    fn settle(
        &self,
        hand: &mut Self::Hand<'_>,
        bytes: &[u8],
        keys: &[Range<usize>],
        out: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Full>;

    /// Lets other threads grow the tables, until this hand is used again. To be called once per batch or so, and
    /// before waiting for other threads: a thread that has used its hand and does not rest stops those that grow.
    fn rest(&self, hand: &mut Self::Hand<'_>);

    /// How many different states were put.
    fn len(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory held, in bytes.
    fn bytes(&self) -> u64;

    /// For a lossy store an upper bound of the probability that some state was taken for another (or, above 1,
    /// how many are expected to have been); `None` for an exact one.
    fn omission(&self) -> Option<f64>;

    /// One key alone, for initial states.
    fn put(&self, hand: &mut Self::Hand<'_>, key: &[u8]) -> Result<(StateId, bool), Full> {
        let all = 0..key.len();
        let all = std::slice::from_ref(&all);
        let mut out = Vec::new();
        self.offer(hand, key, all)?;
        self.settle(hand, key, all, &mut out)?;
        Ok(out[0])
    }
}
