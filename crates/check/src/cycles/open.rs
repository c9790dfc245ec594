//! The numbers of the states whose component is not complete.
//!
//! # The argument
//!   An open table with linear probing. A name lies between its own place and the first free one behind it; a removal
//!   moves those behind it up that would no longer be found, so there are no traces of what was removed.
//!
//! # Invariants
//!   I1 no free slot lies between a name's own place and its slot, and no name has two
//!   I2 at most three quarters of the slots are used, so a probe meets a free one
//!   I3 the number of slots is a power of two, so a hash's upper bits are a place
//!
//! # Owed
//!   O1 it says what a map says    tests: names that come and go
//!
//! # Cost  16 bytes a slot: 21 to 43 a state.

use spinor_store::{Account, Budget, Full, StateId};
use std::sync::Arc;

/// A map from states to numbers; asks the budget before it grows.
pub struct Open {
    slots: Vec<Slot>,
    len: usize,
    account: Account,
}

/// No state has this name: stores count from 0 or put together numbers of fewer bits.
const FREE: u64 = u64::MAX;

/// A table with so many slots for each state is sparse.
const SPARSE: usize = 16;

#[derive(Clone, Copy)]
struct Slot {
    name: u64,
    number: u32,
}

impl Open {
    pub fn new(budget: &Arc<Budget>) -> Open {
        Open { slots: Vec::new(), len: 0, account: budget.account() }
    }

    fn home(&self, name: u64) -> usize {
        let spread = name.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    /// Its place, or the free one where it would lie.
    #[inline]
    fn place(&self, name: u64) -> usize {
        let mut at = self.home(name);
        while self.slots[at].name != name && self.slots[at].name != FREE {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub fn get(&self, id: StateId) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.place(id.0)];
        (slot.name == id.0).then_some(slot.number)
    }

    #[inline]
    pub fn insert(&mut self, id: StateId, number: u32) -> Result<(), Full> {
        assert_ne!(id.0, FREE, "a name");
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            self.grow()?;
        }
        let at = self.place(id.0);
        self.len += usize::from(self.slots[at].name == FREE);
        self.slots[at] = Slot { name: id.0, number };
        debug_assert!(self.len * 4 <= self.slots.len() * 3, "I2");
        Ok(())
    }

    /// Gives it this number if it has the one that is expected. The number it had.
    #[inline]
    pub fn replace(&mut self, id: StateId, expected: u32, number: u32) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let at = self.place(id.0);
        let slot = &mut self.slots[at];
        if slot.name != id.0 {
            return None;
        }
        let before = slot.number;
        if before == expected {
            slot.number = number;
        }
        Some(before)
    }

    /// Removes all these. That is quick if there are no others.
    pub fn remove_all(&mut self, ids: &[StateId]) {
        // Sooner swept than asked for one by one, unless the table is much larger.
        if ids.len() == self.len && self.slots.len() < SPARSE * self.len {
            debug_assert!(ids.iter().all(|id| self.get(*id).is_some()), "there are no others");
            self.slots.fill(Slot { name: FREE, number: 0 });
            self.len = 0;
        } else {
            ids.iter().for_each(|id| self.remove(*id));
        }
    }

    pub fn remove(&mut self, id: StateId) {
        if self.slots.is_empty() {
            return;
        }
        let mut hole = self.place(id.0);
        if self.slots[hole].name == FREE {
            return;
        }
        self.len -= 1;
        let mask = self.slots.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let slot = self.slots[at];
            if slot.name == FREE {
                break;
            }
            // It may move up to the hole unless its own place lies behind that.
            let (from_home, from_hole) = (at.wrapping_sub(self.home(slot.name)) & mask, at.wrapping_sub(hole) & mask);
            if from_home >= from_hole {
                self.slots[hole] = slot;
                hole = at;
            }
        }
        self.slots[hole].name = FREE;
        debug_assert!(self.are_found_behind(hole), "I1");
    }

    /// The names up to the next free slot are found.
    fn are_found_behind(&self, free: usize) -> bool {
        let mask = self.slots.len() - 1;
        let behind = (1..self.slots.len()).map(|n| (free + n) & mask);
        behind.take_while(|at| self.slots[*at].name != FREE).all(|at| self.place(self.slots[at].name) == at)
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Full> {
        let n = (2 * self.slots.len()).max(64);
        assert!(n.is_power_of_two(), "I3");
        let bytes = |n: usize| (n * size_of::<Slot>()) as u64;
        self.account.charge(bytes(n))?;
        let old = std::mem::replace(&mut self.slots, vec![Slot { name: FREE, number: 0 }; n]);
        for slot in old.iter().filter(|slot| slot.name != FREE) {
            let at = self.place(slot.name);
            self.slots[at] = *slot;
        }
        self.account.release(bytes(old.len()));
        debug_assert_eq!(self.slots.iter().filter(|slot| slot.name != FREE).count(), self.len, "I1");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Rng;
    use std::collections::HashMap;

    #[test]
    fn it_says_what_a_map_says() {
        let (mut open, mut map, mut rng) = (Open::new(&Budget::unlimited()), HashMap::new(), Rng(7));
        for n in 0..200_000u32 {
            // Few names, so that they come and go; neighbours lie together.
            let id = StateId(rng.below(300) + if rng.below(2) == 0 { 0 } else { 1 << 40 });
            if rng.below(5) < 2 {
                open.remove(id);
                map.remove(&id);
            } else {
                open.insert(id, n).expect("unlimited");
                map.insert(id, n);
            }
            if rng.below(1000) == 0 {
                // All of them, or all but one.
                let some = map.keys().copied().skip(rng.below(2) as usize).collect::<Vec<_>>();
                open.remove_all(&some);
                some.iter().for_each(|id| assert!(map.remove(id).is_some()));
            }
            let asked = StateId(rng.below(300));
            let before = map.get(&asked).copied();
            assert_eq!(open.replace(asked, before.unwrap_or(0) ^ u32::from(rng.below(2) == 0), n), before);
            if open.get(asked) == Some(n) && before.is_some() {
                map.insert(asked, n);
            }
            assert_eq!(open.get(asked), map.get(&asked).copied());
        }
        assert_eq!(open.len, map.len());
        assert!(map.iter().all(|(id, n)| open.get(*id) == Some(*n)));
    }

    #[test]
    fn it_asks_before_it_grows() {
        let budget = Budget::new(100_000);
        let mut open = Open::new(&budget);
        let n = (0..).take_while(|n| open.insert(StateId(*n), 0).is_ok()).count();
        assert!(n > 1000 && budget.used() <= 100_000);
        drop(open);
        assert_eq!(budget.used(), 0);
    }
}
