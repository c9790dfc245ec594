//! The store that was asked for, handed to who uses it.
//!
//! Each store is a type of its own, and a search is compiled for each of them: what is to be done with one, whichever
//! it is, is a [`User`].

use crate::settings::{Settings, Store};
use spinor_store::{Arena, Bitstate, Budget, Compact, Full, HashCompact, Hints, Marks, StateId, Visited};
use std::collections::HashSet;
use std::sync::Arc;

/// What is to be done with a store.
pub(crate) trait User {
    type Out;
    fn with<V: WithBits>(self, store: &V) -> Self::Out;
}

/// What a store held in the end, and of a lossy one a bound of what it misses.
pub(crate) type Kept = (u64, Option<f64>);

/// Makes it and hands it over; `table` and `hints` are for those that have such. An error means that there was no room.
pub(crate) fn open<U: User>(
    store: Store,
    table: u64,
    budget: &Arc<Budget>,
    hints: Hints,
    user: U,
) -> Result<(U::Out, Kept), Full> {
    match store {
        Store::Auto | Store::Tree => Ok(used(store, user, &Compact::new(budget, hints)?)),
        Store::Arena => Ok(used(store, user, &Arena::new(budget)?)),
        Store::HashCompact | Store::Bitstate => open_lossy(store, table, budget, user),
    }
}

/// The same, for a user that is compiled for lossy stores only.
pub(crate) fn open_lossy<U: User>(
    store: Store,
    table: u64,
    budget: &Arc<Budget>,
    user: U,
) -> Result<(U::Out, Kept), Full> {
    match store {
        Store::HashCompact => Ok(used(store, user, &HashCompact::new(budget)?)),
        Store::Bitstate => Ok(used(store, user, &Bitstate::new(budget, table, HASHES)?)),
        Store::Auto | Store::Tree | Store::Arena => unreachable!("it is exact"),
    }
}

fn used<U: User, V: WithBits>(asked: Store, user: U, store: &V) -> (U::Out, Kept) {
    // The plan goes by what is asked for, searches by what it is.
    assert_eq!(asked.is_lossy(), !V::EXACT, "{asked:?}");
    let out = user.with(store);
    let (bytes, omission) = (store.bytes(), store.omission());
    assert_eq!(omission.is_none(), V::EXACT, "a lossy store says what it may miss, and no other does");
    assert!(omission.is_none_or(|o| o >= 0.0), "what may be missed is a number of states");
    (out, (bytes, omission))
}

/// Bits a state in a bitstate table, as in SPIN.
const HASHES: u32 = 3;
/// Bytes of a bitstate table if nobody says.
pub(crate) const TABLE: u64 = 256 << 20;

/// The bytes of a bitstate table, of all there are.
pub(crate) fn table(settings: &Settings, limit: u64) -> u64 {
    settings.table.unwrap_or(TABLE).min(limit / 4 * 3)
}

/// Says of a lossy store what its silence is worth.
pub(crate) fn missed(omission: f64) -> String {
    let bound = if omission < 1.0 {
        format!("with a probability of at most {}", brief(omission))
    } else {
        format!("about {} of them, at most", brief(omission))
    };
    format!("the store may have taken states for others and missed what lies behind them: {bound}")
}

fn brief(x: f64) -> String {
    if x == 0.0 || (0.001..1e6).contains(&x) { format!("{x:.3}") } else { format!("{x:.1e}") }
}

/// A store, and what holds bits for its names. Of one that is not exact nobody asks for them: `lossy` has none.
pub trait WithBits: Visited {
    type Bits: Bits;
}

impl WithBits for Arena {
    type Bits = Marks;
}

/// Its names are contents, not places.
impl WithBits for Compact {
    type Bits = HashSet<StateId>;
}

impl WithBits for HashCompact {
    type Bits = HashSet<StateId>;
}

impl WithBits for Bitstate {
    type Bits = HashSet<StateId>;
}

/// A bit beside each state.
pub trait Bits: Default {
    /// Bytes that a place for one takes.
    const PLACE: u64;
    fn has(&self, id: StateId) -> bool;
    /// Says whether it was not there before.
    fn put(&mut self, id: StateId) -> bool;
    fn remove(&mut self, id: StateId);
}

impl Bits for Marks {
    /// A bit is little beside a state.
    const PLACE: u64 = 0;
    fn has(&self, id: StateId) -> bool {
        Marks::has(self, id)
    }

    fn put(&mut self, id: StateId) -> bool {
        Marks::put(self, id)
    }

    fn remove(&mut self, id: StateId) {
        Marks::remove(self, id);
    }
}

impl Bits for HashSet<StateId> {
    const PLACE: u64 = size_of::<StateId>() as u64 + 1;
    fn has(&self, id: StateId) -> bool {
        self.contains(&id)
    }

    fn put(&mut self, id: StateId) -> bool {
        self.insert(id)
    }

    fn remove(&mut self, id: StateId) {
        HashSet::remove(self, &id);
    }
}
