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
//!   I4 what the account holds is what the chunks and the table hold (and twice a header per chunk, because the
//!      list of chunks doubles)
//!
//! # Threads
//!   One lock around everything. This store is there to be obviously right.
//!
//! # Cost
//!   The key, 4 bytes for its end, 6.25 to 12.5 for its slot. A batch first hashes all its keys and touches
//!   their homes and the likely equal keys, so that its cache misses overlap instead of following one another.

use crate::hash::hash64;
use crate::{Account, Budget, Full, StateId, Visited};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

const CHUNK: usize = 4096;
const FIRST_SLOTS: usize = 1 << 10;
const MAX_STATES: usize = u32::MAX as usize - 1;

/// See the module.
#[derive(Debug)]
pub struct Arena {
    inner: Mutex<Inner>,
    hash_bits: u32,
}

/// The hashes of the keys offered.
#[derive(Debug, Default)]
pub struct ArenaHand {
    hashes: Vec<u64>,
}

impl Arena {
    pub fn new(budget: &Arc<Budget>) -> Result<Self, Full> {
        Arena::with_hash_bits(budget, 64)
    }

    /// A store that uses only so many bits of the hash. Nothing but the speed may depend on them, and tests
    /// with few bits show that nothing does.
    pub fn with_hash_bits(budget: &Arc<Budget>, hash_bits: u32) -> Result<Self, Full> {
        assert!(hash_bits <= 64);
        let account = budget.account();
        account.charge((FIRST_SLOTS * size_of::<Slot>()) as u64)?;
        let table = vec![EMPTY; FIRST_SLOTS];
        Ok(Arena { inner: Mutex::new(Inner { chunks: Vec::new(), len: 0, table, hash_bits, account }), hash_bits })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no thread panicked inside the store")
    }
}

impl Visited for Arena {
    type Hand<'s> = ArenaHand;
    const EXACT: bool = true;

    fn hand(&self) -> ArenaHand {
        ArenaHand::default()
    }

    fn load(&self, _: &mut ArenaHand, id: StateId, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(self.lock().key(id));
    }

    fn offer(&self, hand: &mut ArenaHand, bytes: &[u8], keys: &[Range<usize>]) -> Result<(), Full> {
        hand.hashes.extend(keys.iter().map(|key| hash(&bytes[key.clone()], self.hash_bits)));
        Ok(())
    }

    fn settle(
        &self,
        hand: &mut ArenaHand,
        bytes: &[u8],
        keys: &[Range<usize>],
        out: &mut Vec<(StateId, bool)>,
    ) -> Result<(), Full> {
        assert_eq!(hand.hashes.len(), keys.len(), "what is settled was offered");
        out.clear();
        let mut inner = self.lock();
        inner.touch(&hand.hashes);
        inner.touch_keys(&hand.hashes);
        for (key, hash) in keys.iter().zip(hand.hashes.drain(..)) {
            out.push(inner.find_or_put(&bytes[key.clone()], hash)?);
        }
        Ok(())
    }

    fn rest(&self, _: &mut ArenaHand) {}

    fn len(&self) -> u64 {
        self.lock().len as u64
    }

    fn bytes(&self) -> u64 {
        self.lock().account.held()
    }

    fn omission(&self) -> Option<f64> {
        None
    }
}

#[derive(Debug)]
struct Inner {
    chunks: Vec<Chunk>,
    len: usize,
    table: Vec<Slot>,
    hash_bits: u32,
    account: Account,
}

#[derive(Clone, Debug, Default)]
struct Chunk {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// The number plus one, little end first, then eight bits of the hash; all zero if empty.
type Slot = [u8; 5];
const EMPTY: Slot = [0; 5];

impl Inner {
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

    /// Nothing is changed if there is no room.
    fn find_or_put(&mut self, key: &[u8], hash: u64) -> Result<(StateId, bool), Full> {
        let mut found = self.probe(key, hash);
        if found.is_err() && (self.len + 1) * 5 > self.table.len() * 4 {
            self.grow()?;
            found = self.probe(key, hash);
        }
        match found {
            Ok(id) => Ok((id, false)),
            Err(at) => {
                let id = self.append(key)?;
                self.table[at] = slot(id, hash);
                debug_assert!(self.len * 5 <= self.table.len() * 4, "I2");
                debug_assert_eq!(self.probe(key, hash), Ok(id), "I1");
                Ok((id, true))
            }
        }
    }

    fn append(&mut self, key: &[u8]) -> Result<StateId, Full> {
        if self.len == MAX_STATES {
            return Err(Full::Numbers);
        }
        if self.len == self.chunks.len() * CHUNK {
            self.open_chunk(key.len())?;
        }
        let chunk = self.chunks.last_mut().expect("a chunk was opened");
        let before = chunk.bytes.capacity();
        if chunk.bytes.len() + key.len() > before {
            // By an eighth, not by doubling: a chunk is small, and what it does not use is lost for good.
            let after = chunk.bytes.len() + key.len() + before / 8;
            u32::try_from(after).map_err(|_| Full::Numbers)?;
            self.account.charge((after - before) as u64)?;
            chunk.bytes.reserve_exact(after - chunk.bytes.len());
            assert_eq!(chunk.bytes.capacity(), after, "I4");
        }
        chunk.bytes.extend_from_slice(key);
        chunk.ends.push(chunk.bytes.len() as u32);
        let id = StateId(self.len as u64);
        self.len += 1;
        debug_assert_eq!(chunk.ends.len(), (self.len - 1) % CHUNK + 1, "I3");
        Ok(id)
    }

    /// The last chunk gives back what it did not use; the next one expects keys as long as its keys were.
    fn open_chunk(&mut self, key_len: usize) -> Result<(), Full> {
        let n_bytes = match self.chunks.last_mut() {
            Some(last) => {
                assert_eq!(last.ends.len(), CHUNK, "I3");
                let before = last.bytes.capacity();
                last.bytes.shrink_to_fit();
                self.account.release((before - last.bytes.capacity()) as u64);
                last.bytes.len().max(key_len)
            }
            // Small models should stay small.
            None => key_len * 16,
        };
        self.account.charge((n_bytes + CHUNK * 4 + 2 * size_of::<Chunk>()) as u64)?;
        self.chunks.push(Chunk { bytes: Vec::with_capacity(n_bytes), ends: Vec::with_capacity(CHUNK) });
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> Result<(), Full> {
        let n_slots = self.table.len() * 2;
        // The old table holds nothing that the keys do not, so it is given up before the new one is made. The
        // new one is written from end to end: first meeting its pages in random order costs more than all the
        // probes.
        self.account.charge((n_slots / 2 * size_of::<Slot>()) as u64)?;
        self.table = Vec::new();
        self.table = vec![EMPTY; n_slots];
        let mut hashes = [0; 32];
        for from in (0..self.len).step_by(hashes.len()) {
            let ids = from..(from + hashes.len()).min(self.len);
            for (h, n) in hashes.iter_mut().zip(ids.clone()) {
                *h = hash(self.key(StateId(n as u64)), self.hash_bits);
            }
            self.touch(&hashes[..ids.len()]);
            for (&hash, n) in hashes.iter().zip(ids) {
                let mut at = self.home(hash);
                while self.table[at] != EMPTY {
                    at = if at + 1 == n_slots { 0 } else { at + 1 };
                }
                self.table[at] = slot(StateId(n as u64), hash);
            }
        }
        assert!(self.len * 5 <= self.table.len() * 4, "I2");
        debug_assert!(self.check_table(), "I1");
        Ok(())
    }

    /// And likely equal keys.
    #[inline]
    fn touch_keys(&self, hashes: &[u64]) {
        let mut touched = 0;
        for &hash in hashes {
            let slot = self.table[self.home(hash)];
            if slot != EMPTY && slot[4] == hash as u8 {
                touched |= self.key(number(slot)).first().copied().unwrap_or(0);
            }
        }
        std::hint::black_box(touched);
    }

    fn find(&self, key: &[u8]) -> Option<StateId> {
        self.probe(key, hash(key, self.hash_bits)).ok()
    }

    /// I1, for assertions.
    fn check_table(&self) -> bool {
        let n_used = self.table.iter().filter(|&&s| s != EMPTY).count();
        let sample = (self.len / 1000).max(1);
        let found = |n: usize| self.find(self.key(StateId(n as u64))) == Some(StateId(n as u64));
        n_used == self.len && (0..self.len).step_by(sample).all(found)
    }
}

#[inline]
fn slot(id: StateId, hash: u64) -> Slot {
    let [a, b, c, d] = (id.0 as u32 + 1).to_le_bytes();
    [a, b, c, d, hash as u8]
}

#[inline]
fn number(slot: Slot) -> StateId {
    let [a, b, c, d, _] = slot;
    StateId(u64::from(u32::from_le_bytes([a, b, c, d]) - 1))
}

#[inline]
fn hash(key: &[u8], hash_bits: u32) -> u64 {
    let h = hash64(key);
    if hash_bits == 64 { h } else { (h & ((1 << hash_bits) - 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::testing;

    fn arena() -> Arena {
        Arena::new(&Budget::unlimited()).expect("unlimited")
    }

    #[test]
    fn it_agrees_with_a_map() {
        testing::agrees_with_a_map(arena);
        for bits in [0, 4, 8] {
            testing::agrees_with_a_map_on_few(|| Arena::with_hash_bits(&Budget::unlimited(), bits).expect("unlimited"));
        }
        testing::keeps_its_budget(Arena::new);
        testing::each_key_is_new_to_one_thread(arena);
    }

    #[test]
    fn numbers_are_given_in_order() {
        let s = arena();
        let mut h = s.hand();
        for i in 0..30_000u64 {
            assert_eq!(s.put(&mut h, &(i * i).to_le_bytes()), Ok((StateId(i), true)));
        }
        assert_eq!(s.put(&mut h, &4u64.to_le_bytes()), Ok((StateId(2), false)));
        assert!(s.lock().check_table());
    }

    #[test]
    fn a_state_costs_at_most_eighteen_bytes_more_than_its_key() {
        let s = arena();
        let mut h = s.hand();
        let mut worst = 0.0f64;
        for i in 0..300_000u64 {
            let mut key = [7u8; 40];
            key[3..11].copy_from_slice(&i.to_le_bytes());
            s.put(&mut h, &key).expect("unlimited");
            if i > 150_000 {
                worst = worst.max(s.bytes() as f64 / s.len() as f64);
            }
        }
        assert!(worst < 40.0 + 18.0, "{worst}");
    }
}
