//! The order of discovery: a sequence of states, packed.
//!
//! # The argument
//!   A breadth-first search writes one log per level and thread, and reads it once, by chunks, in any order and
//!   from any thread. A full chunk of 4,096 names is packed to the least number of whole bytes per name. A name is
//!   taken apart into the three fields that a tree store packs into it (6, 29 and 29 bits: see `compact`), and
//!   each field is kept as its distance from the least one in the chunk, in as many bits as the greatest
//!   distance needs. For other stores the fields mean nothing, and the sum is still never more than 8 bytes:
//!   dense numbers are close to each other, and hashes are as wide as they were.
//!
//! # Invariants
//!   I1 a packed chunk has as many names as a chunk can have, and each comes back as it was
//!   I2 what the account holds is what the chunks and the open one hold
//!
//! # Cost
//!   5 to 6 bytes a name from a tree store, about 2 from an arena; and up to 32 KiB for the open chunk.

use crate::{Account, Budget, Full, StateId};
use std::ops::Range;
use std::sync::Arc;

const CHUNK: usize = 4096;
const FIRST: usize = 64;
const FIELDS: [u32; 3] = [29, 29, 6];

/// See the module.
#[derive(Debug)]
pub struct Log {
    packed: Vec<Packed>,
    open: Vec<StateId>,
    account: Account,
}

#[derive(Debug)]
struct Packed {
    least: [u64; 3],
    widths: [u32; 3],
    /// Bytes per name.
    stride: usize,
    /// With as many bytes behind the last name that eight can be read at every one.
    bytes: Box<[u8]>,
}

impl Log {
    pub fn new(budget: &Arc<Budget>) -> Log {
        Log { packed: Vec::new(), open: Vec::new(), account: budget.account() }
    }

    #[inline]
    pub fn push(&mut self, id: StateId) -> Result<(), Full> {
        if self.open.len() == self.open.capacity() {
            self.make_room()?;
        }
        self.open.push(id);
        Ok(())
    }

    pub fn len(&self) -> u64 {
        (self.packed.len() * CHUNK + self.open.len()) as u64
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> u64 {
        self.account.held()
    }

    pub fn n_chunks(&self) -> usize {
        self.packed.len() + usize::from(!self.open.is_empty())
    }

    /// The names of chunk `i` into `out`, which is cleared first, in the order in which they were pushed.
    pub fn read_chunk(&self, i: usize, out: &mut Vec<StateId>) {
        out.clear();
        match self.packed.get(i) {
            Some(chunk) => out.extend((0..CHUNK).map(|n| chunk.get(n))),
            None => {
                assert_eq!(i, self.packed.len(), "there is such a chunk");
                out.extend_from_slice(&self.open);
            }
        }
    }

    /// The names of a range into `out`, which is cleared first. What lies outside is not unpacked.
    pub fn read(&self, range: Range<usize>, out: &mut Vec<StateId>) {
        out.clear();
        let Range { mut start, end } = range;
        while start < end {
            let (i, from) = (start / CHUNK, start % CHUNK);
            let to = CHUNK.min(end - i * CHUNK);
            match self.packed.get(i) {
                Some(chunk) => out.extend((from..to).map(|n| chunk.get(n))),
                None => out.extend_from_slice(&self.open[from..to]),
            }
            start += to - from;
        }
    }

    /// Forgets all names. The open chunk keeps its room for the next level.
    pub fn clear(&mut self) {
        let held: u64 = self.packed.drain(..).map(|chunk| cost(chunk.bytes.len())).sum();
        self.account.release(held);
        self.packed = Vec::new();
        self.open.clear();
        debug_assert_eq!(self.account.held(), (self.open.capacity() * size_of::<StateId>()) as u64, "I2");
    }

    #[cold]
    fn make_room(&mut self) -> Result<(), Full> {
        if self.open.len() == CHUNK {
            let chunk = Shape::of(&self.open);
            self.account.charge(cost(chunk.n_bytes()))?;
            let chunk = chunk.pack(&self.open);
            debug_assert!(self.open.iter().enumerate().all(|(n, id)| chunk.get(n) == *id), "I1");
            self.packed.push(chunk);
            self.open.clear();
            return Ok(());
        }
        let before = self.open.capacity();
        let after = (before * 2).clamp(FIRST, CHUNK);
        self.account.charge(((after - before) * size_of::<StateId>()) as u64)?;
        self.open.reserve_exact(after - self.open.len());
        assert_eq!(self.open.capacity(), after, "I2");
        Ok(())
    }
}

/// What a packed chunk holds; its header twice, because the list of chunks doubles.
fn cost(n_bytes: usize) -> u64 {
    (n_bytes + 2 * size_of::<Packed>()) as u64
}

fn fields(id: StateId) -> [u64; 3] {
    let mut rest = id.0;
    FIELDS.map(|width| {
        let field = rest & ((1 << width) - 1);
        rest >>= width;
        field
    })
}

struct Shape {
    least: [u64; 3],
    widths: [u32; 3],
    stride: usize,
}

impl Shape {
    fn of(ids: &[StateId]) -> Shape {
        let (mut least, mut most) = ([u64::MAX; 3], [0; 3]);
        for id in ids {
            for (i, field) in fields(*id).into_iter().enumerate() {
                least[i] = least[i].min(field);
                most[i] = most[i].max(field);
            }
        }
        let widths = [0, 1, 2].map(|i| u64::BITS - (most[i] - least[i]).leading_zeros());
        Shape { least, widths, stride: widths.iter().sum::<u32>().div_ceil(8) as usize }
    }

    fn n_bytes(&self) -> usize {
        self.stride * CHUNK + 8
    }

    fn pack(self, ids: &[StateId]) -> Packed {
        assert_eq!(ids.len(), CHUNK, "I1");
        let mut bytes = vec![0; self.n_bytes()].into_boxed_slice();
        for (n, id) in ids.iter().enumerate() {
            let (mut word, mut shift) = (0, 0);
            for (i, field) in fields(*id).into_iter().enumerate() {
                word |= (field - self.least[i]) << shift;
                shift += self.widths[i];
            }
            bytes[n * self.stride..][..self.stride].copy_from_slice(&word.to_le_bytes()[..self.stride]);
        }
        Packed { least: self.least, widths: self.widths, stride: self.stride, bytes }
    }
}

impl Packed {
    fn get(&self, n: usize) -> StateId {
        let eight = &self.bytes[n * self.stride..][..8];
        let mut word = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        let (mut id, mut shift) = (0, 0);
        for (i, width) in FIELDS.into_iter().enumerate() {
            let field = word & ((1 << self.widths[i]) - 1);
            word >>= self.widths[i];
            id |= (field + self.least[i]) << shift;
            shift += width;
        }
        StateId(id)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn check(n: usize, id: impl Fn(u64) -> u64) -> f64 {
        let budget = Budget::unlimited();
        let mut log = Log::new(&budget);
        for _ in 0..2 {
            (0..n as u64).for_each(|i| log.push(StateId(id(i))).expect("unlimited"));
            assert_eq!(log.len(), n as u64);
            assert_eq!(log.n_chunks(), n.div_ceil(CHUNK));
            let (mut all, mut chunk) = (Vec::new(), Vec::new());
            for i in 0..log.n_chunks() {
                log.read_chunk(i, &mut chunk);
                all.append(&mut chunk);
            }
            assert!(all.iter().map(|s| s.0).eq((0..n as u64).map(&id)));
            for range in [0..n, 0..n / 2, n / 2..n, n / 3..n / 2, n..n] {
                log.read(range.clone(), &mut chunk);
                assert_eq!(chunk, all[range]);
            }
            assert_eq!(log.bytes(), budget.used());
            if log.len() > 10 * CHUNK as u64 {
                let per_id = log.bytes() as f64 / n as f64;
                log.clear();
                assert!(log.bytes() <= (CHUNK * 8) as u64);
                return per_id;
            }
            log.clear();
        }
        0.0
    }

    #[test]
    fn names_come_back_in_order_whatever_they_are() {
        for n in [0, 1, 63, 64, 65, 4095, 4096, 4097, 8192, 10_000] {
            check(n, |i| i);
            check(n, |i| crate::hash64(&i.to_le_bytes()));
            check(n, |i| if i % 2 == 0 { u64::MAX } else { 0 });
            check(n, |_| u64::MAX);
            check(n, |_| 0);
        }
    }

    #[test]
    fn dense_numbers_take_two_bytes_and_pairs_of_node_numbers_five() {
        assert!(check(100_000, |i| i) < 2.5);
        let pair = |i: u64| {
            3 << 58 | (crate::hash64(&[i as u8]) % 40_000) << 29 | (crate::hash64(&i.to_le_bytes()) % 1_000_000)
        };
        assert!(check(100_000, pair) < 5.6);
    }

    #[test]
    fn a_spent_budget_refuses_the_name_and_keeps_the_others() {
        let mut log = Log::new(&Budget::new(40_000));
        let n = (0..).take_while(|&i| log.push(StateId(i << 20)).is_ok()).count() as u64;
        assert_eq!(log.len(), n);
        assert!(log.bytes() <= 40_000 && n >= CHUNK as u64);
    }
}
