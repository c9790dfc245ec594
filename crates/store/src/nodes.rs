//! The inner nodes of the trees: eight words get one number, the same eight always the same one.
//!
//! # The argument
//!   The eight words of node `n` are entry `n`. The index is open-addressed with linear probing; a slot is a
//!   node's number plus one in the low bits and as many bits of the hash as are left in the high ones. Putting
//!   a node that is not there: take the next number, write the entry, and swap it into the empty slot at which
//!   the probe ended. If another thread took that slot, the probe goes on from it: it may hold the same node,
//!   and then the entry just written is lost. Nothing is removed, so two threads that put the same node probe
//!   the same slots and meet at the first one that was empty.
//!
//! # Invariants
//!   I1 every node whose number is less than `next` has exactly one slot, or is lost
//!   I2 no empty slot lies between a node's home and its slot
//!   I3 a slot is published (release) after the entry it names was written; entries never change after that
//!   I4 fewer than three quarters of the slots are used, so a probe meets an empty one
//!
//! # Owed
//!   O1 I1 and I3 in all schedules of two threads    tests: `loom_*`
//!
//! # Cost  32 bytes for the entry, 5.3 to 10.7 for the slot.

use crate::memory::{Octet, Region, prefetch};
use crate::sync::{Acquire, Apart, AtomicU32, Relaxed, Release};
use crate::{Account, Full};
use std::sync::Mutex;

/// A name has room for two numbers of 29 bits; one bit says whose numbers they are (`direct`).
pub const NODE_BITS: u32 = 29;
const MAX_NODES: u32 = (1 << (NODE_BITS - 1)) - 1;
const FIRST_BITS: u32 = if cfg!(loom) { 3 } else { 10 };
const MAX_BITS: u32 = 30;

/// Eight words.
pub type Content = [u64; 4];

/// The nodes must grow before another one is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom;

/// See the module.
#[derive(Debug)]
pub struct Nodes {
    entries: Region<Octet>,
    index: Region<AtomicU32>,
    /// There are two to the power of so many slots, and a number has so many bits in a slot.
    bits: u32,
    /// Numbers from here on need growth.
    limit: u32,
    hash_bits: u32,
    next: Apart<AtomicU32>,
    /// Numbers whose entry no slot names, because another thread put the same node first.
    lost: Mutex<Vec<u32>>,
}

impl Nodes {
    /// `hash_bits` are 64, or few to test that nothing but the speed depends on them.
    pub fn new(hash_bits: u32, account: &Account) -> Result<Self, Full> {
        let mut entries = Region::new(MAX_NODES as usize + 1)?;
        let mut index = Region::new(1 << MAX_BITS)?;
        entries.grow_to(1 << (FIRST_BITS - 1), account)?;
        index.grow_to(1 << FIRST_BITS, account)?;
        let next = Apart(AtomicU32::new(0));
        let mut nodes = Nodes { entries, index, bits: FIRST_BITS, limit: 0, hash_bits, next, lost: Mutex::default() };
        nodes.set_limit();
        Ok(nodes)
    }

    /// The eight words of a node.
    #[inline]
    pub fn get(&self, n: u32) -> Content {
        let Octet(entry) = &self.entries[n as usize];
        [entry[0].load(Relaxed), entry[1].load(Relaxed), entry[2].load(Relaxed), entry[3].load(Relaxed)]
    }

    #[inline(always)]
    fn holds(&self, n: u32, [a, b, c, d]: Content) -> bool {
        let Octet([p, q, r, s]) = &self.entries[n as usize];
        let differ = p.load(Relaxed) ^ a | q.load(Relaxed) ^ b | r.load(Relaxed) ^ c | s.load(Relaxed) ^ d;
        differ == 0
    }

    /// Starts fetching what `near` looks at.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.index[self.home(hash)]);
    }

    /// Starts fetching what `intern` looks at: the likely entry.
    #[inline]
    pub fn near(&self, hash: u64) {
        let slot = self.index[self.home(hash)].load(Relaxed);
        let low = (1 << self.bits) - 1;
        if slot & !low == (hash as u32) << self.bits && slot & low != 0 {
            prefetch(&self.entries[(slot & low) as usize - 1]);
        }
    }

    /// Whether the table is too large for the near caches, so that fetching ahead pays.
    #[inline]
    pub fn is_large(&self) -> bool {
        self.bits >= 15
    }

    /// Starts fetching the entry of a node.
    #[inline]
    pub fn prefetch_entry(&self, n: u32) {
        prefetch(&self.entries[n as usize]);
    }

    /// The number of the node with these eight words.
    #[inline(always)]
    pub fn intern(&self, content: Content) -> Result<u32, NoRoom> {
        self.intern_hashed(content, self.hash(content))
    }

    /// The same for one whose hash is known.
    #[inline(always)]
    pub fn intern_hashed(&self, content: Content, hash: u64) -> Result<u32, NoRoom> {
        let at = self.home(hash);
        // Most nodes are there, at home.
        let slot = self.index[at].load(Acquire);
        let low = (1 << self.bits) - 1;
        if slot & !low == (hash as u32) << self.bits && slot != 0 {
            let n = (slot & low) - 1;
            if self.holds(n, content) {
                return Ok(n);
            }
        }
        self.find_or_put(content, hash, at)
    }

    #[inline(never)]
    fn find_or_put(&self, content: Content, hash: u64, mut at: usize) -> Result<u32, NoRoom> {
        let low = (1 << self.bits) - 1;
        let print = (hash as u32) << self.bits;
        let mut mine = None;
        loop {
            let mut slot = self.index[at].load(Acquire);
            if slot == 0 {
                let n = match mine {
                    Some(n) => n,
                    None => self.append(content)?,
                };
                mine = Some(n);
                debug_assert!(self.holds(n, content), "I3: it is written before a slot names it");
                match self.index[at].compare_exchange(0, print | (n + 1), Release, Acquire) {
                    Ok(_) => return Ok(n), // I3
                    Err(theirs) => slot = theirs,
                }
            }
            if slot & !low == print {
                let n = (slot & low) - 1;
                if self.holds(n, content) {
                    if let Some(mine) = mine {
                        self.lost.lock().expect("no panic while it is locked").push(mine);
                    }
                    return Ok(n);
                }
            }
            at = (at + 1) & low as usize;
        }
    }

    /// Room for as many nodes again as an eighth of those there are, at least. Does nothing if there is room.
    #[cold]
    pub fn grow(&mut self, account: &Account) -> Result<(), Full> {
        let n = self.next.0.load(Relaxed);
        if n < self.limit {
            return Ok(());
        }
        // Threads that found no room counted on past the limit.
        let n = self.limit;
        self.next.0.store(n, Relaxed);
        if n == MAX_NODES {
            return Err(Full::Numbers);
        }
        if n as usize >= self.entries.len() {
            let more = (n as usize / 8).max(1 << FIRST_BITS);
            self.entries.grow_to((n as usize + more).min(MAX_NODES as usize + 1), account)?;
        }
        if n >= index_limit(self.bits) {
            self.index.grow_to(2 << self.bits, account)?;
            self.bits += 1;
            self.rebuild();
        }
        self.set_limit();
        assert!(n < self.limit);
        Ok(())
    }

    pub fn len(&self) -> u32 {
        self.next.0.load(Relaxed).min(self.limit)
    }

    fn set_limit(&mut self) {
        self.limit = index_limit(self.bits).min(MAX_NODES).min(self.entries.len() as u32); // I4
        assert!(self.limit < 1 << self.bits, "a number plus one fits into a slot");
        debug_assert!(u64::from(self.limit) * 4 <= 3 << self.bits, "I4");
    }

    /// Writes the entry; no slot names it yet.
    #[cold]
    fn append(&self, content: Content) -> Result<u32, NoRoom> {
        let n = self.next.0.fetch_add(1, Relaxed);
        if n >= self.limit {
            return Err(NoRoom);
        }
        let Octet(entry) = &self.entries[n as usize];
        for (to, from) in entry.iter().zip(content) {
            to.store(from, Relaxed);
        }
        Ok(n)
    }

    fn rebuild(&mut self) {
        self.index.iter().for_each(|slot| slot.store(0, Relaxed));
        let mut lost = self.lost.lock().expect("no panic while it is locked").clone();
        lost.sort_unstable();
        let n_nodes = self.next.0.load(Relaxed);
        let mut hashes = [0; 32];
        for from in (0..n_nodes).step_by(hashes.len()) {
            let some = from..(from + hashes.len() as u32).min(n_nodes);
            for (hash, n) in hashes.iter_mut().zip(some.clone()) {
                *hash = self.hash(self.get(n));
                prefetch(&self.index[self.home(*hash)]);
            }
            for (hash, n) in hashes.into_iter().zip(some) {
                if lost.binary_search(&n).is_err() {
                    self.place(hash, n);
                }
            }
        }
        debug_assert!(self.check_index(&lost), "I1, I2");
    }

    /// Every node but those that were lost is named by one slot, and found from its home on. Some are looked for.
    fn check_index(&self, lost: &[u32]) -> bool {
        let n_nodes = self.next.0.load(Relaxed);
        let n_slots = self.index.iter().filter(|slot| slot.load(Relaxed) != 0).count();
        let low = (1u32 << self.bits) - 1;
        let is_found = |n: u32| {
            let mut at = self.home(self.hash(self.get(n)));
            loop {
                match self.index[at].load(Relaxed) {
                    0 => return false,
                    slot if slot & low == n + 1 => return true,
                    _ => at = (at + 1) & low as usize,
                }
            }
        };
        let mut some = (0..n_nodes).step_by((n_nodes as usize / 1000).max(1));
        n_slots + lost.len() == n_nodes as usize && some.all(|n| lost.binary_search(&n).is_ok() || is_found(n))
    }

    fn place(&self, hash: u64, n: u32) {
        let mut at = self.home(hash);
        while self.index[at].load(Relaxed) != 0 {
            at = (at + 1) & ((1 << self.bits) - 1);
        }
        self.index[at].store((hash as u32) << self.bits | (n + 1), Relaxed);
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> (64 - self.bits)) as usize
    }

    #[inline(always)]
    pub fn hash(&self, [a, b, c, d]: Content) -> u64 {
        let fold = |a: u64, b: u64| {
            let wide = u128::from(a) * u128::from(b);
            wide as u64 ^ (wide >> 64) as u64
        };
        let low = fold(a ^ 0x9e6c_63d0_873f_a2d5, b ^ 0xc2b2_ae3d_27d4_eb4f);
        let high = fold(c ^ 0x1656_67b1_9e37_79f9, d ^ 0xd6e8_feb8_6659_fd93);
        let hash = low ^ high.rotate_left(29);
        if self.hash_bits == 64 {
            hash
        } else {
            (hash & ((1 << self.hash_bits) - 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        }
    }
}

fn index_limit(bits: u32) -> u32 {
    (1 << bits) / 4 * 3
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Budget;

    fn check(hash_bits: u32, n: u64, content: impl Fn(u64) -> Content) {
        let account = Budget::unlimited().account();
        let mut nodes = Nodes::new(hash_bits, &account).expect("room");
        let mut put = |i: u64| loop {
            match nodes.intern(content(i)) {
                Ok(n) => break n,
                Err(NoRoom) => nodes.grow(&account).expect("room"),
            }
        };
        for i in 0..n {
            assert_eq!(u64::from(put(i)), i);
            assert_eq!(u64::from(put(i / 2)), i / 2);
        }
        assert_eq!(u64::from(nodes.len()), n);
        assert!((0..n).all(|i| nodes.get(i as u32) == content(i)));
    }

    #[test]
    fn four_words_always_get_the_same_number() {
        check(64, 200_000, |i| [i, 0, 0, 0]);
        check(64, 200_000, |i| [0, i << 32, 0, i]);
        check(64, 100_000, |i| [0, 5, crate::hash64(&i.to_le_bytes()), 3]);
        check(4, 2000, |i| [i, i, i, i]);
        // The values at which one factor of the hash is zero.
        check(64, 2000, |i| [0x9e6c_63d0_873f_a2d5, i, 0, 0]);
    }

    #[test]
    fn numbers_like_those_of_children_spread_well() {
        let account = Budget::unlimited().account();
        let mut nodes = Nodes::new(64, &account).expect("room");
        for a in 0..60u64 {
            for b in 0..60 {
                for c in 0..30 {
                    let content = [a << 32 | b, c << 32 | 7, 0, 0];
                    while nodes.intern(content).is_err() {
                        nodes.grow(&account).expect("room");
                    }
                }
            }
        }
        let far = |n: u32| {
            let home = nodes.home(nodes.hash(nodes.get(n)));
            let at = (home..).find(|at| {
                let slot = nodes.index[at & ((1 << nodes.bits) - 1)].load(Relaxed);
                slot & ((1 << nodes.bits) - 1) == n + 1
            });
            at.expect("I1") - home
        };
        let mean = (0..nodes.len()).map(far).sum::<usize>() as f64 / f64::from(nodes.len());
        assert!(mean < 1.5, "{mean}");
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use super::*;
    use crate::Budget;
    use loom::sync::Arc;

    /// Whoever wins, both get one number for the same node, different ones for different nodes, and can read
    /// the entry. All homes are the same, so they meet.
    #[test]
    fn loom_two_threads_agree_on_numbers() {
        loom::model(|| {
            let account = Budget::unlimited().account();
            let nodes = Arc::new(Nodes::new(0, &account).expect("room"));
            let work = |nodes: Arc<Nodes>, contents: [Content; 2]| {
                contents.map(|c| {
                    let n = nodes.intern(c).expect("room");
                    assert_eq!(nodes.get(n), c, "I3");
                    n
                })
            };
            let theirs = nodes.clone();
            let other = loom::thread::spawn(move || work(theirs, [[1, 2, 0, 0], [3, 4, 0, 0]]));
            let [b, a] = work(nodes.clone(), [[3, 4, 0, 0], [1, 2, 0, 0]]);
            assert_eq!(other.join().expect("no panic"), [a, b], "I1");
            assert_ne!(a, b);
        });
    }
}
