//! One set of tests for every store: it against a map.

use crate::{Budget, Full, StateId, Visited, hash64};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A small generator of random numbers; the same every time.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        hash64(&self.0.to_le_bytes())
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// A store, and what it should say.
struct Pair<'s, S: Visited> {
    store: &'s S,
    hand: S::Hand<'s>,
    truth: BTreeMap<Vec<u8>, StateId>,
    bytes: Vec<u8>,
    keys: Vec<Range<usize>>,
    n_offered: usize,
}

impl<'s, S: Visited> Pair<'s, S> {
    fn new(store: &'s S) -> Self {
        let (bytes, keys) = (vec![0xEE; 3], Vec::new());
        Pair { store, hand: store.hand(), truth: BTreeMap::new(), bytes, keys, n_offered: 0 }
    }

    fn lay(&mut self, key: &[u8]) {
        self.keys.push(self.bytes.len()..self.bytes.len() + key.len());
        self.bytes.extend_from_slice(key);
    }

    fn offer(&mut self) {
        self.store.offer(&mut self.hand, &self.bytes, &self.keys[self.n_offered..]).expect("unlimited");
        self.n_offered = self.keys.len();
    }

    fn settle(&mut self) {
        let mut out = vec![(StateId(77), true)];
        self.store.settle(&mut self.hand, &self.bytes, &self.keys, &mut out).expect("unlimited");
        assert_eq!(out.len(), self.keys.len());
        for (range, (id, new)) in self.keys.drain(..).zip(out) {
            let known = self.truth.insert(self.bytes[range].to_vec(), id);
            assert_eq!(new, known.is_none());
            assert!(known.is_none_or(|known| known == id));
        }
        self.bytes.truncate(3);
        self.n_offered = 0;
        self.store.rest(&mut self.hand);
    }

    fn load(&mut self, id: StateId) -> Vec<u8> {
        let mut key = vec![1, 2, 3];
        self.store.load(&mut self.hand, id, &mut key);
        key
    }

    fn finish(mut self) {
        assert_eq!(self.store.len(), self.truth.len() as u64);
        let mut names: Vec<StateId> = self.truth.values().copied().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), self.truth.len(), "two keys have one name");
        for (key, id) in std::mem::take(&mut self.truth) {
            assert!(!S::EXACT || self.load(id) == key);
            self.lay(&key);
            self.offer();
            self.truth.insert(key, id);
            self.settle();
        }
    }
}

/// Lengths 0 to 60, about a third of the keys twice.
fn ragged(i: usize) -> Vec<u8> {
    let h = hash64(&(i as u64 * 2 / 3).to_le_bytes());
    let len = (h % 61) as usize;
    (0..len).map(|j| if j < 8 { (h >> (8 * j)) as u8 } else { j as u8 }).collect()
}

fn compare<S: Visited>(store: S, n: usize, batch: usize, key: impl Fn(usize) -> Vec<u8>) {
    let mut pair = Pair::new(&store);
    for from in (0..n).step_by(batch) {
        for i in from..(from + batch).min(n) {
            pair.lay(&key(i));
            if i % 7 == 0 {
                pair.offer();
            }
        }
        pair.offer();
        pair.settle();
    }
    pair.finish();
}

/// From a stored state change a few words, or the length, and offer that; several states to a batch.
fn walk<S: Visited>(store: S, n_batches: usize, n_words: usize, n_values: usize, seed: u64) {
    let mut rng = Rng(seed);
    let mut pair = Pair::new(&store);
    pair.lay(&vec![0; n_words * 4]);
    pair.offer();
    pair.settle();
    let mut known: Vec<StateId> = pair.truth.values().copied().collect();
    for _ in 0..n_batches {
        for _ in 0..1 + rng.below(4) {
            let recent = known.len().min(200);
            let base = pair.load(known[known.len() - 1 - rng.below(recent)]);
            for _ in 0..rng.below(25) {
                let mut key = base.clone();
                match rng.below(20) {
                    0 => key.truncate(rng.below(key.len() + 1)),
                    1 => key.resize(n_words * 4, 0),
                    2 => key.extend_from_slice(&[1; 5]),
                    _ => {}
                }
                key.truncate(n_words * 5);
                for _ in 0..1 + rng.below(3) {
                    if key.len() >= 4 {
                        let at = rng.below(key.len() / 4) * 4;
                        key[at] = rng.below(n_values) as u8;
                        key[at + 1] = rng.below(2) as u8;
                    }
                }
                pair.lay(&key);
            }
            pair.offer();
        }
        pair.settle();
        known.extend(pair.truth.values().nth(rng.below(pair.truth.len())));
    }
    pair.finish();
}

/// Keys of which only every so many-th word changes, in few bits, as in the sample; now and then any bit does.
pub fn agrees_with_a_map_on_keys_like<S: Visited>(store: S, n_words: usize, every: usize, seed: u64) {
    let mut rng = Rng(seed);
    let mut pair = Pair::new(&store);
    pair.lay(&like(n_words, every, &mut rng));
    pair.offer();
    pair.settle();
    let mut known: Vec<StateId> = pair.truth.values().copied().collect();
    for _ in 0..400 {
        for _ in 0..1 + rng.below(3) {
            let base = pair.load(known[rng.below(known.len())]);
            for _ in 0..rng.below(12) {
                let mut key = base.clone();
                let other = like(n_words, every, &mut rng);
                for _ in 0..1 + rng.below(3) {
                    let at = rng.below(n_words / every) * every * 4;
                    key[at..at + 4].copy_from_slice(&other[at..at + 4]);
                }
                if rng.below(40) == 0 {
                    key = other;
                }
                if rng.below(40) == 0 {
                    let bit = rng.below(n_words * 32);
                    key[bit / 8] ^= 1 << (bit % 8);
                }
                pair.lay(&key);
            }
            pair.offer();
        }
        pair.settle();
        known.extend(pair.truth.values().nth(rng.below(pair.truth.len())));
    }
    pair.finish();
}

/// Such a key.
pub fn like(n_words: usize, every: usize, rng: &mut Rng) -> Vec<u8> {
    let word = |w: usize, rng: &mut Rng| if w.is_multiple_of(every) { [rng.below(8) as u8, 7, 0, 0] } else { [9; 4] };
    (0..n_words).flat_map(|w| word(w, rng)).collect()
}

pub fn agrees_with_a_map<S: Visited>(make: impl Fn() -> S) {
    agrees_with_a_map_on_few(&make);
    for batch in [1, 17, 100] {
        compare(make(), 30_000, batch, ragged);
    }
    let long = |i: usize| if i.is_multiple_of(500) { vec![(i / 1000) as u8; 100_000 + i / 700] } else { ragged(i) };
    compare(make(), 9_000, 32, long);
    for n_parts in [256, 257, 65_536u64] {
        compare(make(), n_parts as usize + 1000, 24, |i| {
            let mut key = vec![5; 64];
            key[40..48].copy_from_slice(&(i as u64 % n_parts).to_le_bytes());
            key
        });
    }
    for seed in 0..10 {
        walk(make(), 300, 1 + seed as usize * 5, 1 << seed.min(7), seed);
    }
    walk(make(), 100, 1000, 256, 99);
}

/// For a lossy store with enough bits, the part of the tests that does not load.
pub fn agrees_with_a_set<S: Visited>(make: impl Fn() -> S) {
    for batch in [1, 17, 100] {
        compare(make(), 30_000, batch, ragged);
    }
    compare(make(), 1, 1, |_| Vec::new());
    compare(make(), 30, 3, |i| vec![0; i % 10]);
}

pub fn agrees_with_a_map_on_few<S: Visited>(make: impl Fn() -> S) {
    compare(make(), 1, 1, |_| Vec::new());
    compare(make(), 30, 3, |i| vec![0; i % 10]);
    compare(make(), 3_000, 16, ragged);
    walk(make(), 60, 12, 8, 7);
}

/// Puts until there is no more room; the limit is kept, and what was put is still there.
pub fn keeps_its_budget<S: Visited>(make: impl Fn(&Arc<Budget>) -> Result<S, Full>) {
    for limit in [0, 100_000, 1_000_000, 3_000_000] {
        let budget = Budget::new(limit);
        let Ok(store) = make(&budget) else { continue };
        let mut hand = store.hand();
        let key = |i: u64| [hash64(&i.to_le_bytes()).to_le_bytes(), i.to_le_bytes()].concat();
        let mut ids = Vec::new();
        let full = loop {
            match store.put(&mut hand, &key(ids.len() as u64)) {
                Ok((id, new)) => {
                    assert!(new);
                    ids.push(id);
                }
                Err(full) => break full,
            }
        };
        assert_eq!(full, Full::Memory);
        assert!(budget.used() <= limit && store.bytes() == budget.used());
        assert_eq!(store.len(), ids.len() as u64);
        let mut back = Vec::new();
        for (i, &id) in ids.iter().enumerate().filter(|_| S::EXACT) {
            store.load(&mut hand, id, &mut back);
            assert_eq!(back, key(i as u64));
        }
        drop(hand);
        drop(store);
        assert_eq!(budget.used(), 0);
    }
}

/// Two threads put the same keys in different orders, a hundred times.
pub fn each_key_is_new_to_one_thread<S: Visited>(make: impl Fn() -> S) {
    for round in 0..100u64 {
        let store = make();
        let n = 3000;
        let work = |seed: u64| {
            let mut rng = Rng(seed);
            let mut hand = store.hand();
            let (mut out, mut n_new, mut back) = (Vec::new(), 0, Vec::new());
            for _ in 0..400 {
                let (mut bytes, mut keys) = (Vec::new(), Vec::new());
                for _ in 0..24 {
                    let i = rng.below(n);
                    let mut key = vec![3; 40];
                    key[..4].copy_from_slice(&(i as u32 / 60).to_le_bytes());
                    key[30..34].copy_from_slice(&(i as u32 % 60).to_le_bytes());
                    keys.push(bytes.len()..bytes.len() + 40);
                    bytes.extend(key);
                }
                store.offer(&mut hand, &bytes, &keys).expect("unlimited");
                store.settle(&mut hand, &bytes, &keys, &mut out).expect("unlimited");
                n_new += out.iter().filter(|(_, new)| *new).count();
                for (range, (id, _)) in keys.into_iter().zip(&out).take(3 * usize::from(S::EXACT)) {
                    store.load(&mut hand, *id, &mut back);
                    assert_eq!(back, bytes[range]);
                }
                store.rest(&mut hand);
            }
            n_new
        };
        let (a, b) = std::thread::scope(|scope| {
            let other = scope.spawn(|| work(round * 2 + 1));
            (work(round * 2), other.join().expect("no panic"))
        });
        assert_eq!((a + b) as u64, store.len());
        assert!(store.len() as usize <= n);
    }
}
