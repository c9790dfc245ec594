//! A lossy store that keeps 64 bits of hash instead of the key.
//!
//! # The argument
//!   An open-addressed table of hashes with linear probing; the home is the hash's top bits, an empty slot is zero
//!   (a hash that is zero counts as one). Putting is one compare-and-swap of the first empty slot from home on.
//!   Two keys with one hash are taken for one state; among `n` keys that happens with a probability of at most
//!   `n(n-1)/2^65`, as far as the hash is like a random function. So "not new" may be wrong, and nothing can be
//!   loaded: a search must keep the keys it still needs.
//!
//!   Growth doubles the table where it is. A *cluster* is a run of used slots between empty ones; the homes of its
//!   hashes lie in it, so after doubling they lie at twice its start or later. Walking from the end, a cluster
//!   is taken out before anything is put there. The cluster at the start may have come around from the end,
//!   so it is taken out first and put back last.
//!
//! # Invariants
//!   I1 no empty slot lies between a hash's home and its slot
//!   I2 at most three quarters of the slots are used, but for what threads put that have not counted yet; and for all of them
//!      together that is less than an eighth
//!
//! # Cost  10.7 to 21.3 bytes a state.

use crate::growth::{Growing, Grows, Hold};
use crate::hash::hash64;
use crate::memory::{Region, prefetch};
use crate::sync::{AcqRel, Acquire, AtomicU64, Relaxed};
use crate::{Account, Budget, Full, StateId, Visited};
use std::ops::Range;
use std::sync::Arc;

const FIRST_BITS: u32 = 13;
const MAX_BITS: u32 = 36;
/// That put at the same time.
const MOST_THREADS: u64 = 1 << 10;
const _: () = assert!((1 << FIRST_BITS) / 4 >= 2 * MOST_THREADS, "one at a time is the least");

/// See the module.
#[derive(Debug)]
pub struct HashCompact {
    table: Growing<Table>,
    len: std::sync::atomic::AtomicU64,
    account: Account,
    hash_bits: u32,
}

#[derive(Debug)]
struct Table {
    slots: Region<AtomicU64>,
    bits: u32,
}

/// A hold on the table, and the hashes of the keys offered.
#[derive(Debug)]
pub struct HashHand<'s> {
    table: Hold<'s, Table>,
    hashes: Vec<u64>,
}

impl Grows for Table {}

impl HashCompact {
    pub fn new(budget: &Arc<Budget>) -> Result<Self, Full> {
        HashCompact::with_hash_bits(budget, 64)
    }

    /// Only so many bits of the hash: so few that tests can see what is omitted.
    pub fn with_hash_bits(budget: &Arc<Budget>, hash_bits: u32) -> Result<Self, Full> {
        assert!((1..=64).contains(&hash_bits));
        let account = budget.account();
        let mut slots = Region::new(1 << MAX_BITS)?;
        slots.grow_to(1 << FIRST_BITS, &account)?;
        let table = Growing::new(Table { slots, bits: FIRST_BITS });
        Ok(HashCompact { table, len: Default::default(), account, hash_bits })
    }

    fn hash(&self, key: &[u8]) -> u64 {
        (hash64(key) >> (64 - self.hash_bits) << (64 - self.hash_bits)).max(1)
    }
}

impl Visited for HashCompact {
    type Hand<'s> = HashHand<'s>;
    const EXACT: bool = false;

    fn hand(&self) -> HashHand<'_> {
        HashHand { table: self.table.hold(), hashes: Vec::new() }
    }

    fn load(&self, _: &mut HashHand<'_>, _: StateId, _: &mut Vec<u8>) {
        panic!("a lossy store does not keep keys");
    }

    fn offer(&self, hand: &mut HashHand<'_>, bytes: &[u8], keys: &[Range<usize>]) -> Result<(), Full> {
        let table = hand.table.get();
        for key in keys {
            let hash = self.hash(&bytes[key.clone()]);
            prefetch(&table.slots[table.home(hash)]);
            hand.hashes.push(hash);
        }
        Ok(())
    }

    fn settle(
        &self,
        hand: &mut HashHand<'_>,
        _: &[u8],
        keys: &[Range<usize>],
        out: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Full> {
        assert_eq!(hand.hashes.len(), keys.len(), "what is settled was offered");
        out.clear();
        let mut done = Ok(());
        while out.len() < keys.len() && done.is_ok() {
            let table = hand.table.get();
            if self.len.load(Relaxed) > table.limit() {
                done = hand.table.alone(|table| {
                    if self.len.load(Relaxed) > table.limit() { table.grow(&self.account) } else { Ok(()) }
                });
                continue;
            }
            let (most, mut n_new) = (table.most_uncounted(), 0);
            for &hash in &hand.hashes[out.len()..] {
                let new = table.put(hash);
                n_new += u64::from(new);
                out.push((StateId(hash), new));
                if n_new == most {
                    break;
                }
            }
            if n_new > 0 {
                self.len.fetch_add(n_new, Relaxed);
            }
        }
        hand.hashes.clear();
        done
    }

    fn rest(&self, hand: &mut HashHand<'_>) {
        hand.table.rest();
    }

    fn len(&self) -> u64 {
        self.len.load(Relaxed)
    }

    fn bytes(&self) -> u64 {
        self.account.held()
    }

    fn omission(&self) -> Option<f64> {
        let n = self.len() as f64;
        Some(n * (n - 1.0).max(0.0) / 2.0 / 2f64.powi(self.hash_bits as i32))
    }
}

impl Table {
    fn limit(&self) -> u64 {
        (1 << self.bits) / 4 * 3 // I2
    }

    /// What a thread may put before it counts it: the rest of the slots is enough for that of all threads.
    fn most_uncounted(&self) -> u64 {
        (1 << self.bits) / 4 / (2 * MOST_THREADS)
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    #[inline]
    fn after(&self, at: usize) -> usize {
        (at + 1) & ((1 << self.bits) - 1)
    }

    /// Whether it is new.
    #[inline]
    fn put(&self, hash: u64) -> bool {
        debug_assert_ne!(hash, 0, "zero is an empty slot");
        let home = self.home(hash);
        let mut at = home;
        loop {
            let mut there = self.slots[at].load(Acquire);
            if there == 0 {
                match self.slots[at].compare_exchange(0, hash, AcqRel, Acquire) {
                    Ok(_) => return true,
                    Err(theirs) => there = theirs,
                }
            }
            if there == hash {
                return false;
            }
            at = self.after(at);
            debug_assert_ne!(at, home, "I2: a probe meets an empty slot");
        }
    }

    fn grow(&mut self, account: &Account) -> Result<(), Full> {
        let n_old = 1 << self.bits;
        if self.bits == MAX_BITS {
            return Err(Full::Numbers);
        }
        self.slots.grow_to(2 * n_old, account)?;
        self.bits += 1;
        let mut first = Vec::new();
        (0..n_old).take_while(|&at| self.take(at, &mut first)).for_each(drop);
        let mut cluster = Vec::new();
        for at in (0..n_old).rev() {
            if !self.take(at, &mut cluster) {
                debug_assert!(cluster.iter().all(|&hash| self.home(hash) > at), "I1");
                cluster.drain(..).for_each(|hash| assert!(self.put(hash)));
            }
        }
        cluster.into_iter().chain(first).for_each(|hash| assert!(self.put(hash)));
        debug_assert!(self.n_used() <= self.limit(), "I2");
        Ok(())
    }

    fn n_used(&self) -> u64 {
        self.slots.iter().filter(|slot| slot.load(Relaxed) != 0).count() as u64
    }

    /// Takes what is there, if anything is.
    fn take(&self, at: usize, into: &mut Vec<u64>) -> bool {
        let there = self.slots[at].load(Relaxed);
        if there != 0 {
            into.push(there);
            self.slots[at].store(0, Relaxed);
        }
        there != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing;

    /// Each of many threads that would each fill the rest of the table alone.
    #[test]
    fn many_threads_leave_an_empty_slot() {
        let store = HashCompact::new(&Budget::unlimited()).expect("room");
        let (n_threads, each) = (64u64, 4_000u64);
        let all = std::sync::Barrier::new(n_threads as usize);
        std::thread::scope(|scope| {
            for me in 0..n_threads {
                let (store, all) = (&store, &all);
                scope.spawn(move || {
                    let keys: Vec<Range<usize>> = (0..each as usize).map(|n| 8 * n..8 * n + 8).collect();
                    let bytes: Vec<u8> = (me * each..(me + 1) * each).flat_map(u64::to_le_bytes).collect();
                    let (mut hand, mut out) = (store.hand(), Vec::new());
                    store.offer(&mut hand, &bytes, &keys).expect("room");
                    store.rest(&mut hand);
                    all.wait();
                    store.settle(&mut hand, &bytes, &keys, &mut out).expect("room");
                    store.rest(&mut hand);
                    assert!(out.iter().all(|(_, new)| *new));
                });
            }
        });
        assert_eq!(store.len(), n_threads * each);
    }

    #[test]
    fn with_all_bits_it_agrees_with_a_set() {
        testing::agrees_with_a_set(|| HashCompact::new(&Budget::unlimited()).expect("room"));
        testing::each_key_is_new_to_one_thread(|| HashCompact::new(&Budget::unlimited()).expect("room"));
        testing::keeps_its_budget(HashCompact::new);
    }

    #[test]
    fn with_few_bits_the_bound_is_above_what_is_omitted() {
        for bits in [16, 20, 24] {
            let store = HashCompact::with_hash_bits(&Budget::unlimited(), bits).expect("room");
            let mut hand = store.hand();
            let n = 1u64 << (bits / 2 + 2);
            for i in 0..n {
                store.put(&mut hand, &i.to_le_bytes()).expect("room");
            }
            let omitted = (n - store.len()) as f64;
            let bound = store.omission().expect("lossy");
            assert!(omitted > 0.0 && omitted < bound * 4.0 && omitted > bound / 4.0, "{bits}: {omitted} {bound}");
        }
    }
}
