//! The names of the states of one level, for several threads.
//!
//! # The argument
//!   Open addressing with linear probing. Names are put while nobody asks, and asked for while nobody puts; the threads meet
//!   in between. Each name is put once, by one thread, so that a free slot taken by compare-and-swap is all there is
//!   to it. Room is made by one thread alone, beforehand.
//!   Two bits beside a name: it is suspected, it is cleared.
//!
//! # Cost  8 bytes a slot, of which at most three quarters are used.

use spinor_store::{Account, Budget, Full, StateId};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// See the module.
pub struct Band {
    slots: Vec<AtomicU64>,
    len: usize,
    account: Account,
}

const FREE: u64 = u64::MAX;
const SUSPECTED: u64 = 1 << 63;
const CLEARED: u64 = 1 << 62;
const NAME: u64 = CLEARED - 1;
const LEAST: usize = 64;

fn free(n: usize) -> Vec<AtomicU64> {
    (0..n).map(|_| AtomicU64::new(FREE)).collect()
}

impl Band {
    pub fn new(budget: &Arc<Budget>) -> Band {
        Band { slots: Vec::new(), len: 0, account: budget.account() }
    }

    /// Makes room for so many more names.
    pub fn room(&mut self, n: usize) -> Result<(), Full> {
        self.len += n;
        let wanted = (self.len * 4 / 3 + 1).next_power_of_two().max(LEAST);
        if wanted <= self.slots.len() {
            return Ok(());
        }
        let wanted = if self.slots.is_empty() { wanted } else { wanted.max(2 * self.slots.len()) };
        self.account.charge(8 * wanted as u64)?;
        let old = std::mem::replace(&mut self.slots, free(wanted));
        for slot in old.iter().map(|s| s.load(Relaxed)).filter(|s| *s != FREE) {
            self.lay(slot);
        }
        self.account.release(8 * old.len() as u64);
        Ok(())
    }

    /// Forgets all names.
    pub fn clear(&mut self) {
        // What is much too large for what it held is not worth being swept again and again.
        if self.slots.len() > 8 * self.len.max(LEAST) {
            self.account.release(8 * self.slots.len() as u64);
            self.slots = Vec::new();
        } else {
            self.slots.iter_mut().for_each(|s| *s.get_mut() = FREE);
        }
        self.len = 0;
    }

    #[inline]
    fn home(&self, name: u64) -> usize {
        (name.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    #[inline]
    fn lay(&self, slot: u64) {
        let mut at = self.home(slot & NAME);
        while self.slots[at].compare_exchange(FREE, slot, Relaxed, Relaxed).is_err() {
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// There must be room for it, and it must not be there.
    #[inline]
    pub fn put(&self, id: StateId) {
        assert!(id.0 < NAME, "a name leaves two bits");
        self.lay(id.0);
    }

    /// Where it lies.
    #[inline]
    fn find(&self, id: StateId) -> Option<&AtomicU64> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(id.0);
        loop {
            let slot = self.slots[at].load(Relaxed);
            if slot == FREE {
                return None;
            }
            if slot & NAME == id.0 {
                return Some(&self.slots[at]);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// What lies where it would: asking for it soon costs less then.
    #[inline]
    pub fn glance(&self, id: StateId) -> u64 {
        if self.slots.is_empty() { FREE } else { self.slots[self.home(id.0)].load(Relaxed) }
    }

    #[cfg(test)]
    pub fn has(&self, id: StateId) -> bool {
        self.find(id).is_some()
    }

    /// Whether it is there and was not suspected before. It is now.
    #[inline]
    pub fn suspect(&self, id: StateId) -> bool {
        self.find(id).is_some_and(|slot| {
            slot.load(Relaxed) & SUSPECTED == 0 && slot.fetch_or(SUSPECTED, Relaxed) & SUSPECTED == 0
        })
    }

    /// It is on no cycle.
    pub fn clear_one(&self, id: StateId) {
        if let Some(slot) = self.find(id) {
            slot.fetch_or(CLEARED, Relaxed);
        }
    }

    /// It is there and not cleared.
    pub fn is_open(&self, id: StateId) -> bool {
        self.find(id).is_some_and(|slot| slot.load(Relaxed) & CLEARED == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Rng;
    use std::collections::HashSet;

    #[test]
    fn it_says_what_a_set_says() {
        let (mut band, mut rng) = (Band::new(&Budget::unlimited()), Rng(3));
        for round in 0..200 {
            let (mut names, mut suspects, mut cleared) = (HashSet::new(), HashSet::new(), HashSet::new());
            for _ in 0..rng.below(if round % 7 == 0 { 300 } else { 6 }) {
                let some: HashSet<u64> = (0..rng.below(30)).map(|_| rng.below(500) << rng.below(40)).collect();
                let new: Vec<u64> = some.into_iter().filter(|n| names.insert(*n)).collect();
                band.room(new.len()).expect("unlimited");
                new.iter().for_each(|n| band.put(StateId(*n)));
                for _ in 0..10 {
                    let n = rng.below(500);
                    assert_eq!(band.suspect(StateId(n)), names.contains(&n) && suspects.insert(n));
                    let n = rng.below(500);
                    if rng.below(2) == 0 {
                        band.clear_one(StateId(n));
                        cleared.insert(n);
                    }
                    // What is cleared before it is there is not cleared.
                    cleared.retain(|n| names.contains(n));
                    assert_eq!(band.is_open(StateId(n)), names.contains(&n) && !cleared.contains(&n));
                }
            }
            assert!(
                names.iter().all(|n| band.has(StateId(*n)))
                    && (0..500).all(|n| band.has(StateId(n)) == names.contains(&n))
            );
            band.clear();
            assert!(names.iter().all(|n| !band.has(StateId(*n))));
        }
    }
}
