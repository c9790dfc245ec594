//! Keys that a thread met a short while ago.
//!
//! # The argument
//!   Most successors are known already, and most of those were met a moment ago: two steps that do not touch each
//!   other lead to the same state in both orders, and a search by levels comes there twice within a few hundred keys.
//!   A small table, direct-mapped and overwritten without mercy, knows half to nine tenths of them, and costs a fraction
//!   of what a store does. Whole keys are compared, so what is found here was met before.
//!
//! # Invariants
//!   I1 an entry's key is the whole of a key that was met, and `print` and the length of that key are in its head, with the
//!      age at that time
//!   I2 what is empty has the length zero, and no key of that length is looked for
//!
//! # Cost  [`BYTES`] a thread, in the near caches; fewer at first, because a small search would touch most of them once.

use crate::{Account, Budget};
use std::sync::Arc;

/// Small enough for the second cache.
const BYTES: usize = 1 << 19;
/// Until so many keys for each entry have been put.
const FIRST_BYTES: usize = 1 << 16;
const PUTS: usize = 4;
/// Longer keys are not kept.
const MOST_QUADS: usize = 64;

type Quad = [u64; 2];

/// See the module.
#[derive(Debug)]
pub struct Recent {
    /// Entries of `stride` quads: the print and the length of a key, then the key.
    quads: Vec<Quad>,
    stride: usize,
    n_entries: usize,
    /// Keys that may yet be put before the table is made larger; it is as large as it gets if there are none.
    n_puts: usize,
    account: Account,
    /// There is no memory for a table.
    refused: bool,
    /// How often everything was forgotten; keys met before have another age.
    age: u64,
}

/// Most systems have short keys: for each length there is code without a loop.
macro_rules! by_length {
    ($quads:ident, $body:expr) => {{
        macro_rules! of {
            ($n:literal) => {{
                let $quads: &[[u8; 16]; $n] = $quads.try_into().expect("so many quads");
                $body
            }};
        }
        match $quads.len() {
            1 => of!(1),
            2 => of!(2),
            3 => of!(3),
            4 => of!(4),
            5 => of!(5),
            6 => of!(6),
            7 => of!(7),
            8 => of!(8),
            _ => $body,
        }
    }};
}

impl Recent {
    pub fn new(budget: &Arc<Budget>) -> Recent {
        let (quads, account) = (Vec::new(), budget.account());
        Recent { quads, stride: 0, n_entries: 0, n_puts: 0, account, refused: false, age: 0 }
    }

    /// Was this key met a short while ago? It is now.
    #[inline]
    pub fn repeats(&mut self, key: &[u8]) -> bool {
        let (quads, rest) = key.as_chunks::<16>();
        if quads.len() >= self.stride {
            self.widen(quads.len());
        }
        if !rest.is_empty() || quads.is_empty() || quads.len() >= self.stride {
            return false; // I2
        }
        by_length!(quads, self.find_or_put(quads))
    }

    /// No key was met.
    pub fn forget(&mut self) {
        self.age += 1;
    }

    #[inline(always)]
    fn find_or_put(&mut self, quads: &[[u8; 16]]) -> bool {
        debug_assert!(quads.len() < 256 && self.age < 1 << 56, "I1: the length and the age share a word");
        debug_assert!(!quads.is_empty() && quads.len() < self.stride, "I2");
        let print = print(quads);
        let nth = ((print >> 32) * self.n_entries as u64) >> 32;
        debug_assert!(is_whole(&self.quads[nth as usize * self.stride..][..self.stride]), "I1");
        let entry = &mut self.quads[nth as usize * self.stride..][..quads.len() + 1];
        let (head, key) = entry.split_at_mut(1);
        let wanted = [print, quads.len() as u64 | self.age << 8];
        if head[0] == wanted {
            let differ = key.iter().zip(quads).fold(0, |differ, (there, quad)| {
                let [a, b] = words(quad);
                differ | there[0] ^ a | there[1] ^ b
            });
            if differ == 0 {
                return true;
            }
        }
        head[0] = wanted;
        for (there, quad) in key.iter_mut().zip(quads) {
            *there = words(quad);
        }
        if self.n_puts > 0 {
            self.n_puts -= 1;
            if self.n_puts == 0 {
                self.grow(quads);
            }
        }
        false
    }

    /// Entries for keys of so many quads; what was there is forgotten.
    #[cold]
    #[inline(never)]
    fn widen(&mut self, n_quads: usize) {
        if self.account.held() == 0 && !self.refused {
            self.refused = self.account.charge(BYTES as u64).is_err();
        }
        if n_quads <= MOST_QUADS && !self.refused {
            self.stride = n_quads + 1;
            self.make(FIRST_BYTES);
            self.n_puts = PUTS * self.n_entries;
        }
    }

    /// The table becomes as large as it gets, with this key in it.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, quads: &[[u8; 16]]) {
        self.make(BYTES);
        self.repeats(quads.as_flattened());
    }

    /// An empty table.
    fn make(&mut self, bytes: usize) {
        self.n_entries = bytes / (16 * self.stride);
        self.quads = vec![[0, 0]; self.n_entries * self.stride];
    }
}

/// Whether an entry is empty, or its head is that of its key.
fn is_whole(entry: &[Quad]) -> bool {
    let len = (entry[0][1] & 0xff) as usize;
    let bytes = |[a, b]: &Quad| (u128::from(*a) | u128::from(*b) << 64).to_le_bytes();
    let key = || entry[1..][..len].iter().map(bytes).collect::<Vec<_>>();
    len == 0 || len < entry.len() && print(&key()) == entry[0][0]
}

/// A sum of products of which none waits for another.
#[inline(always)]
fn print(quads: &[[u8; 16]]) -> u64 {
    let product = |(quad, [k, l]): (&[u8; 16], &Quad)| {
        let [a, b] = words(quad);
        a.wrapping_add(*k).wrapping_mul(b.wrapping_add(*l))
    };
    quads.iter().zip(&ADDENDS).map(product).fold(0, u64::wrapping_add)
}

#[inline(always)]
fn words(quad: &[u8; 16]) -> Quad {
    let all = u128::from_le_bytes(*quad);
    [all as u64, (all >> 64) as u64]
}

/// Different ones for every quad of a key.
const ADDENDS: [Quad; MOST_QUADS] = addends();

const fn addends() -> [Quad; MOST_QUADS] {
    let mut all = [[0, 0]; MOST_QUADS];
    let mut x: u64 = 0;
    let mut i = 0;
    while i < 2 * MOST_QUADS {
        x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let y = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let y = (y ^ (y >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        all[i / 2][i % 2] = y ^ (y >> 31);
        i += 1;
    }
    all
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing::Rng;
    use std::collections::HashSet;

    /// What is said to be repeated was met, whatever the lengths, and what comes again at once is found.
    #[test]
    fn what_repeats_was_met() {
        let mut rng = Rng(7);
        let (mut recent, mut met) = (Recent::new(&Budget::unlimited()), HashSet::new());
        let mut n_repeated = 0;
        for _ in 0..300_000 {
            let len = [16, 32, 32, 48, 64, 160, 176, 20, 0, 16 * (MOST_QUADS + 1)][rng.below(10)];
            let mut key = vec![0u8; len];
            for _ in 0..3 {
                if len > 0 {
                    key[rng.below(len)] = rng.below(3) as u8;
                }
            }
            let repeats = recent.repeats(&key);
            let new = met.insert(key.clone());
            assert!(!(repeats && new), "{key:?}");
            n_repeated += u32::from(repeats);
            let kept = !len.is_multiple_of(16) || len == 0 || len > 16 * MOST_QUADS;
            assert_eq!(recent.repeats(&key), !kept);
            if rng.below(20_000) == 0 {
                recent.forget();
                met.clear();
            }
        }
        assert!(n_repeated > 20_000, "{n_repeated}");
    }

    /// Keys whose prints are the same are told apart.
    #[test]
    fn equal_prints_are_not_equal_keys() {
        let quad = |a: u64, b: u64| [a.to_le_bytes(), b.to_le_bytes()].concat();
        // A factor that is zero hides the other one.
        let zero = ADDENDS[0][0].wrapping_neg();
        let mut recent = Recent::new(&Budget::unlimited());
        let (one, two) = (quad(zero, 1), quad(zero, 2));
        assert_eq!(print(one.as_chunks().0), print(two.as_chunks().0));
        for key in [&one, &two, &one] {
            assert!(!recent.repeats(key));
            assert!(recent.repeats(key));
        }
    }

    #[test]
    fn without_memory_nothing_repeats() {
        let mut recent = Recent::new(&Budget::new(BYTES as u64 - 1));
        assert!((0..10).all(|_| !recent.repeats(&[0; 16])));
    }
}
