//! An exact store: keys laid end to end, and a table of their numbers.
//!
//! # The argument
//!   The keys of 4,096 consecutive states share a chunk, one after the other, with the offsets at which they end;
//!   a state's number says which chunk and which of its ends. The table is open-addressed with linear probing.
//!   A slot is five bytes: a state's number plus one, and eight bits of the key's hash. A key is known iff a
//!   slot between its home and the next empty slot names an equal key; the eight bits only save looking at
//!   most of the others. Nothing is ever removed, so an empty slot ends the search.
//!
//!   The home of a hash `h` in a table of `n` slots is the high half of `h · n`; the table doubles when it is
//!   four fifths full. (Growing by half instead saves two bytes a state and costs half as much time again.)
//!
//! # Invariants
//!   I1 every state has exactly one slot, and no empty slot lies between its home and that slot
//!   I2 the table is at most four fifths full, so a probe always meets an empty slot
//!   I3 chunks are full except the last
//!
//! # Cost
//!   The key, 4 bytes for its end, 6.25 to 12.5 for its slot. A batch first hashes all its keys and touches
//!   their homes and the likely equal keys, so that its cache misses overlap instead of following one another.

use crate::hash::hash64;
use crate::{StateId, Visited};
use std::ops::Range;

const CHUNK: usize = 4096;
const FIRST_SLOTS: usize = 1 << 10;
const MAX_STATES: usize = u32::MAX as usize - 1;

/// See the module.
#[derive(Clone, Debug)]
pub struct Arena {
    chunks: Vec<Chunk>,
    len: usize,
    table: Vec<Slot>,
    /// Bytes held by the chunks.
    held: u64,
    hash_bits: u32,
    hashes: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// The number plus one, little end first, then eight bits of the hash; all zero if empty.
type Slot = [u8; 5];
const EMPTY: Slot = [0; 5];

impl Default for Arena {
    fn default() -> Self {
        Arena::new()
    }
}

impl Arena {
    pub fn new() -> Self {
        Arena::with_hash_bits(64)
    }

    /// A store that uses only so many bits of the hash. Nothing but the speed may depend on them, and tests
    /// with few bits show that nothing does.
    pub fn with_hash_bits(hash_bits: u32) -> Self {
        assert!(hash_bits <= 64);
        let table = vec![EMPTY; FIRST_SLOTS];
        Arena { chunks: Vec::new(), len: 0, table, held: 0, hash_bits, hashes: Vec::new() }
    }

    pub fn find(&self, key: &[u8]) -> Option<StateId> {
        self.probe(key, self.hash(key)).ok()
    }

    #[inline]
    fn hash(&self, key: &[u8]) -> u64 {
        let h = hash64(key);
        if self.hash_bits == 64 { h } else { (h & ((1 << self.hash_bits) - 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.table.len() as u128) >> 64) as usize
    }

    /// Brings the homes of these hashes near. A loop that does nothing else has most misses under way at once.
    #[inline]
    fn touch(&self, hashes: &[u64]) {
        std::hint::black_box(hashes.iter().fold(0, |touched, hash| touched | self.table[self.home(*hash)][4]));
    }

    /// The state with this key, or the empty slot where it belongs.
    #[inline]
    fn probe(&self, key: &[u8], hash: u64) -> Result<StateId, usize> {
        let print = hash as u8;
        let mut at = self.home(hash);
        loop {
            let slot = self.table[at];
            if slot == EMPTY {
                return Err(at);
            }
            if slot[4] == print {
                let id = number(slot);
                if self.key(id) == key {
                    return Ok(id);
                }
            }
            at += 1;
            if at == self.table.len() {
                at = 0;
            }
        }
    }

    #[inline]
    fn key(&self, id: StateId) -> &[u8] {
        let chunk = &self.chunks[id.index() / CHUNK];
        let n = id.index() % CHUNK;
        let from = if n == 0 { 0 } else { chunk.ends[n - 1] as usize };
        &chunk.bytes[from..chunk.ends[n] as usize]
    }

    fn find_or_put(&mut self, key: &[u8], hash: u64) -> (StateId, bool) {
        match self.probe(key, hash) {
            Ok(id) => (id, false),
            Err(at) => {
                let id = self.append(key);
                self.table[at] = slot(id, hash);
                if self.len * 5 > self.table.len() * 4 {
                    self.grow();
                }
                (id, true)
            }
        }
    }

    fn append(&mut self, key: &[u8]) -> StateId {
        assert!(self.len < MAX_STATES, "the search asks for room before it puts");
        if self.len.is_multiple_of(CHUNK) {
            self.open_chunk(key.len());
        }
        let chunk = self.chunks.last_mut().expect("a chunk was opened");
        let before = chunk.bytes.capacity();
        if chunk.bytes.len() + key.len() > before {
            // By an eighth, not by doubling: a chunk is small, and what it does not use is lost for good.
            chunk.bytes.reserve_exact(key.len() + before / 8);
            self.held += (chunk.bytes.capacity() - before) as u64;
        }
        chunk.bytes.extend_from_slice(key);
        chunk.ends.push(u32::try_from(chunk.bytes.len()).expect("a chunk holds less than 4 GiB"));
        let id = StateId(self.len as u32);
        self.len += 1;
        debug_assert_eq!(chunk.ends.len(), (self.len - 1) % CHUNK + 1, "I3");
        id
    }

    /// The last chunk gives back what it did not use; the next one expects keys as long as its keys were.
    fn open_chunk(&mut self, key_len: usize) {
        let mut chunk = Chunk::default();
        match self.chunks.last_mut() {
            Some(last) => {
                assert_eq!(last.ends.len(), CHUNK, "I3");
                self.held -= last.bytes.capacity() as u64;
                last.bytes.shrink_to_fit();
                self.held += last.bytes.capacity() as u64;
                chunk.bytes.reserve_exact(last.bytes.len().max(key_len));
                chunk.ends.reserve_exact(CHUNK);
            }
            // Small models should stay small.
            None => chunk.bytes.reserve_exact(key_len * 16),
        }
        self.held += chunk.bytes.capacity() as u64 + CHUNK as u64 * 4;
        self.chunks.push(chunk);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let n_slots = self.table.len() * 2;
        // The old table holds nothing that the keys do not, so the new one is laid over it, and written from end
        // to end: first meeting its pages in random order costs more than all the probes.
        self.table.clear();
        self.table.reserve_exact(n_slots);
        self.table.resize(n_slots, EMPTY);
        let mut hashes = [0; 32];
        for from in (0..self.len).step_by(hashes.len()) {
            let ids = from..(from + hashes.len()).min(self.len);
            for (hash, n) in hashes.iter_mut().zip(ids.clone()) {
                *hash = self.hash(self.key(StateId(n as u32)));
            }
            self.touch(&hashes[..ids.len()]);
            for (&hash, n) in hashes.iter().zip(ids) {
                let mut at = self.home(hash);
                while self.table[at] != EMPTY {
                    at = if at + 1 == n_slots { 0 } else { at + 1 };
                }
                self.table[at] = slot(StateId(n as u32), hash);
            }
        }
        assert!(self.len * 5 <= self.table.len() * 4, "I2");
        debug_assert!(self.check_table(), "I1");
    }

    /// I1, for assertions.
    fn check_table(&self) -> bool {
        let n_used = self.table.iter().filter(|&&s| s != EMPTY).count();
        let sample = (self.len / 1000).max(1);
        let found = |n: usize| self.find(self.key(StateId(n as u32))) == Some(StateId(n as u32));
        n_used == self.len && (0..self.len).step_by(sample).all(found)
    }
}

#[inline]
fn slot(id: StateId, hash: u64) -> Slot {
    let [a, b, c, d] = (id.0 + 1).to_le_bytes();
    [a, b, c, d, hash as u8]
}

#[inline]
fn number(slot: Slot) -> StateId {
    let [a, b, c, d, _] = slot;
    StateId(u32::from_le_bytes([a, b, c, d]) - 1)
}

impl Visited for Arena {
    fn find_or_put_all(&mut self, bytes: &[u8], keys: &[Range<usize>], out: &mut Vec<(StateId, bool)>) {
        out.clear();
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(keys.iter().map(|key| self.hash(&bytes[key.clone()])));
        self.touch(&hashes);
        let mut touched = 0;
        for &hash in &hashes {
            let slot = self.table[self.home(hash)];
            if slot != EMPTY && slot[4] == hash as u8 {
                touched |= self.key(number(slot)).first().copied().unwrap_or(0);
            }
        }
        std::hint::black_box(touched);
        for (key, &hash) in keys.iter().zip(&hashes) {
            let found = self.find_or_put(&bytes[key.clone()], hash);
            out.push(found);
        }
        self.hashes = hashes;
        debug_assert_eq!(out.len(), keys.len());
    }

    fn get(&self, id: StateId) -> &[u8] {
        self.key(id)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> u64 {
        self.held + (self.table.len() * size_of::<Slot>()) as u64 + (self.chunks.capacity() * size_of::<Chunk>()) as u64
    }

    fn room(&self) -> usize {
        MAX_STATES - self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Puts `n` keys in batches and compares every answer with a map's.
    fn compare(mut store: Arena, n: usize, batch: usize, key: impl Fn(usize) -> Vec<u8>) -> Arena {
        let mut truth: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        let mut out = Vec::new();
        for from in (0..n).step_by(batch) {
            let mut bytes = vec![0xEE];
            let mut ranges = Vec::new();
            for i in from..(from + batch).min(n) {
                let k = key(i);
                ranges.push(bytes.len()..bytes.len() + k.len());
                bytes.extend(k);
            }
            store.find_or_put_all(&bytes, &ranges, &mut out);
            assert_eq!(out.len(), ranges.len());
            for (range, &(id, new)) in ranges.iter().zip(&out) {
                let next = truth.len() as u32;
                let known = truth.get(&bytes[range.clone()]).copied();
                assert_eq!((id.0, new), (known.unwrap_or(next), known.is_none()));
                truth.insert(bytes[range.clone()].to_vec(), id.0);
            }
        }
        assert_eq!(store.len(), truth.len());
        for (k, id) in &truth {
            assert_eq!(store.get(StateId(*id)), k.as_slice());
            assert_eq!(store.find(k), Some(StateId(*id)));
        }
        assert!(store.check_table());
        store
    }

    /// Lengths 0 to 60, about a third of the keys twice.
    fn ragged(i: usize) -> Vec<u8> {
        let h = hash64(&(i as u64 * 2 / 3).to_le_bytes());
        let len = (h % 61) as usize;
        (0..len).map(|j| if j < 8 { (h >> (8 * j)) as u8 } else { j as u8 }).collect()
    }

    #[test]
    fn numbers_are_given_in_order_and_keys_come_back_as_they_were_put() {
        compare(Arena::new(), 30_000, 17, ragged);
        compare(Arena::new(), 500, 500, ragged);
        compare(Arena::new(), 100, 1, ragged);
    }

    #[test]
    fn a_weak_hash_changes_nothing_but_the_speed() {
        for bits in [0, 4, 8] {
            compare(Arena::with_hash_bits(bits), 3_000, 16, ragged);
        }
    }

    #[test]
    fn the_empty_key_is_a_key() {
        let mut s = Arena::new();
        let mut out = Vec::new();
        s.find_or_put_all(&[], &[0..0, 0..0], &mut out);
        assert_eq!(out, [(StateId(0), true), (StateId(0), false)]);
        assert_eq!(s.get(StateId(0)), b"");
        s.find_or_put_all(&[0], std::slice::from_ref(&(0..1)), &mut out);
        assert_eq!(out, [(StateId(1), true)]);
    }

    #[test]
    fn keys_of_very_different_lengths_live_together() {
        let long = |i: usize| if i.is_multiple_of(100) { vec![i as u8; 100_000 + i] } else { ragged(i) };
        compare(Arena::new(), 9_000, 32, long);
    }

    #[test]
    fn a_state_costs_at_most_eighteen_bytes_more_than_its_key() {
        let key = |i: usize| {
            let mut k = vec![7u8; 40];
            k[3..11].copy_from_slice(&(i as u64).to_le_bytes());
            k
        };
        let mut s = Arena::new();
        let mut out = Vec::new();
        let mut worst = 0.0f64;
        for i in 0..300_000 {
            s.find_or_put_all(&key(i), std::slice::from_ref(&(0..40)), &mut out);
            if i > 150_000 {
                worst = worst.max(s.bytes() as f64 / s.len() as f64);
            }
        }
        assert!(worst < 40.0 + 18.0, "{worst}");
    }
}
