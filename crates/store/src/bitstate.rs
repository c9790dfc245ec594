//! A lossy store of a given size: a state is some bits in one large array.
//!
//! # The argument
//!   A key's hash chooses `k` bits (double hashing: a first place and a step). A key is new iff one of its bits was
//!   zero; then all are set. If all were set by others, the state is omitted: "not new" may be wrong, and nothing
//!   can be loaded. With a share `f` of the bits set, that happens to a new state with probability `f^k`. For
//!   each state that was found new this happened to `f^k / (1 - f^k)` others on average; the sum is the expected
//!   number of states omitted. (States that are reached only through omitted ones are not counted: nobody knows
//!   of them.)
//!
//!   Threads that put the same key at the same time must not both find it new, so the bits of a key are set under
//!   one of a few hundred locks, chosen by its hash. The bits are atomic, because keys under different locks
//!   share words.
//!
//! # Invariants
//!   I1 a bit that was set stays set, and `n_set` counts each once: it is never more than there are bits
//!
//! # Owed
//!   O1 a key is new to one thread    tests: `each_key_is_new_to_one_thread`
//!   O2 the sum is near what is omitted    tests: `the_estimate_is_near_what_is_omitted`
//!
//! # Cost  the array, whatever is put; `k` cache misses a key.

use crate::hash::hash64;
use crate::memory::{Region, prefetch};
use crate::sync::{Apart, AtomicU64, Relaxed};
use crate::{Account, Budget, Full, StateId, Visited};
use std::ops::Range;
use std::sync::{Arc, Mutex};

const N_LOCKS: usize = 256;

/// See the module.
#[derive(Debug)]
pub struct Bitstate {
    words: Region<AtomicU64>,
    n_bits: u64,
    n_hashes: u32,
    locks: Box<[Mutex<()>; N_LOCKS]>,
    counts: Apart<Mutex<Counts>>,
    account: Account,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    n_states: u64,
    n_set: u64,
    omitted: f64,
}

/// The hashes of the keys offered.
#[derive(Debug, Default)]
pub struct BitHand {
    hashes: Vec<u64>,
}

impl Bitstate {
    /// An array of so many bytes, and so many bits a state.
    pub fn new(budget: &Arc<Budget>, n_bytes: u64, n_hashes: u32) -> Result<Self, Full> {
        assert!(n_hashes > 0);
        let n_words = usize::try_from(n_bytes.div_ceil(8).max(1)).map_err(|_| Full::Memory)?;
        let account = budget.account();
        let mut words = Region::new(n_words)?;
        words.grow_to(n_words, &account)?;
        let locks = Box::new([const { Mutex::new(()) }; N_LOCKS]);
        Ok(Bitstate { words, n_bits: n_words as u64 * 64, n_hashes, locks, counts: Apart(Mutex::default()), account })
    }

    /// The places of a key's bits.
    #[inline]
    fn bits(&self, hash: u64) -> impl Iterator<Item = (usize, u64)> {
        let step = hash64(&hash.to_le_bytes()) | 1;
        (0..u64::from(self.n_hashes)).map(move |i| {
            let h = hash.wrapping_add(step.wrapping_mul(i));
            let bit = ((u128::from(h) * u128::from(self.n_bits)) >> 64) as u64;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// How many of its bits were zero.
    fn set(&self, hash: u64) -> u32 {
        let _alone = self.locks[hash as usize % N_LOCKS].lock().expect("no panic while it is locked");
        self.bits(hash).map(|(at, bit)| u32::from(self.words[at].fetch_or(bit, Relaxed) & bit == 0)).sum()
    }

    fn counts(&self) -> Counts {
        *self.counts.0.lock().expect("no panic while it is locked")
    }
}

impl Visited for Bitstate {
    type Hand<'s> = BitHand;
    const EXACT: bool = false;

    fn hand(&self) -> BitHand {
        BitHand::default()
    }

    fn load(&self, _: &mut BitHand, _: StateId, _: &mut Vec<u8>) {
        panic!("a lossy store does not keep keys");
    }

    fn offer(&self, hand: &mut BitHand, bytes: &[u8], keys: &[Range<usize>]) -> Result<(), Full> {
        for key in keys {
            let hash = hash64(&bytes[key.clone()]);
            self.bits(hash).for_each(|(at, _)| prefetch(&self.words[at]));
            hand.hashes.push(hash);
        }
        Ok(())
    }

    fn settle(
        &self,
        hand: &mut BitHand,
        _: &[u8],
        keys: &[Range<usize>],
        out: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Full> {
        assert_eq!(hand.hashes.len(), keys.len(), "what is settled was offered");
        out.clear();
        let (mut n_new, mut n_set) = (0, 0);
        for hash in hand.hashes.drain(..) {
            let set = self.set(hash);
            n_set += u64::from(set);
            n_new += u64::from(set > 0);
            out.push((StateId(hash), set > 0));
        }
        if n_new > 0 {
            let mut counts = self.counts.0.lock().expect("no panic while it is locked");
            let missed = (counts.n_set as f64 / self.n_bits as f64).powi(self.n_hashes as i32);
            counts.omitted += n_new as f64 * missed / (1.0 - missed).max(f64::MIN_POSITIVE);
            counts.n_states += n_new;
            counts.n_set += n_set;
            debug_assert!(counts.n_set <= self.n_bits, "I1");
            debug_assert!(counts.n_states <= counts.n_set, "I1: who is new sets a bit");
        }
        Ok(())
    }

    fn rest(&self, _: &mut BitHand) {}

    fn len(&self) -> u64 {
        self.counts().n_states
    }

    fn bytes(&self) -> u64 {
        self.account.held()
    }

    fn omission(&self) -> Option<f64> {
        Some(self.counts().omitted)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing;

    fn large() -> Bitstate {
        Bitstate::new(&Budget::unlimited(), 64 << 20, 7).expect("room")
    }

    #[test]
    fn in_a_large_array_it_agrees_with_a_set() {
        testing::agrees_with_a_set(large);
        testing::each_key_is_new_to_one_thread(|| Bitstate::new(&Budget::unlimited(), 1 << 20, 7).expect("room"));
    }

    #[test]
    fn the_estimate_is_near_what_is_omitted() {
        for (n_hashes, n) in [(1, 2_000u64), (3, 20_000), (3, 60_000), (5, 60_000)] {
            let store = Bitstate::new(&Budget::unlimited(), 32_768, n_hashes).expect("room");
            let mut hand = store.hand();
            for i in 0..n {
                store.put(&mut hand, &i.to_le_bytes()).expect("room");
            }
            let omitted = (n - store.len()) as f64;
            let estimate = store.omission().expect("lossy");
            assert!((omitted - estimate).abs() < 20.0 + omitted / 5.0, "{n_hashes} {n}: {omitted} {estimate}");
        }
    }

    #[test]
    fn it_takes_what_it_was_given_and_no_more() {
        assert_eq!(Bitstate::new(&Budget::new(1 << 20), 2 << 20, 3).err(), Some(Full::Memory));
        let budget = Budget::new(1 << 20);
        let store = Bitstate::new(&budget, 1 << 20, 3).expect("room");
        assert_eq!((store.bytes(), budget.used()), (1 << 20, 1 << 20));
    }
}
