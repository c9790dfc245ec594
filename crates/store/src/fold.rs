//! One key as words and node numbers, and the way to another key that differs little.
//!
//! # The argument
//!   A key's words determine its nodes' numbers upwards, and the two roots' numbers determine everything downwards.
//!   From one key to another only what differs need be touched. Upwards: every node above a changed word must
//!   be looked up, children first. Downwards: where a node's number is the same, everything below it is.
//!
//!   Looking up is not done here, one node after the other, but by `waves`, for many keys at once. A key is folded
//!   into lookups, one for each node that changed; a lookup refers to its node's children by number where they
//!   did not change, and by their own lookups where they did.
//!
//! # Invariants
//!   I1 unless `fresh`, the words and all numbers are those of one key

use crate::memory::differing;
use crate::nodes::{Content, NoRoom, Nodes};
use crate::plan::Plan;
use crate::waves::Waves;

/// The words and the node numbers of one key.
#[derive(Debug)]
pub struct Cells {
    words: Vec<u8>,
    /// One a node, then a zero for children that are not there.
    numbers: Vec<u32>,
    fresh: bool,
    /// The lookups of the nodes that are changed by the key being folded.
    lookups: Vec<u32>,
    changed: Many,
    dirty: Many,
    /// A padded key.
    scratch: Vec<u8>,
}

/// The two roots of a key: a node's number, or the lookup that will tell it.
#[derive(Clone, Copy, Debug)]
pub struct Roots {
    pub of: [u32; 2],
    pub is_lookup: [bool; 2],
}

impl Cells {
    pub fn new(plan: &Plan) -> Cells {
        let many = || Many { bits: vec![0; plan.n_nodes / 64 + 1], from: 0 };
        Cells {
            words: vec![0; plan.n_words * 4],
            numbers: vec![0; plan.n_nodes + 1],
            fresh: true,
            lookups: vec![0; plan.n_nodes + 1],
            changed: many(),
            dirty: many(),
            scratch: Vec::new(),
        }
    }

    /// Whether there is no key yet to compare with.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The two roots of `key`, by lookups.
    #[inline(always)]
    pub fn fold(&mut self, plan: &Plan, key: &[u8], waves: &mut Waves) -> Roots {
        debug_assert!(!self.fresh, "I1");
        if plan.n_nodes >= 64 {
            return self.fold_long(plan, key, waves);
        }
        if !plan.padded {
            return self.climb(plan, key, waves, &mut Few(0), &mut Few(0));
        }
        let words = self.pad(key);
        let roots = self.climb(plan, &words, waves, &mut Few(0), &mut Few(0));
        self.scratch = words;
        roots
    }

    #[inline(never)]
    fn fold_long(&mut self, plan: &Plan, key: &[u8], waves: &mut Waves) -> Roots {
        let padded = plan.padded.then(|| self.pad(key));
        let (mut dirty, mut changed) = (std::mem::take(&mut self.dirty), std::mem::take(&mut self.changed));
        let roots = self.climb(plan, padded.as_deref().unwrap_or(key), waves, &mut dirty, &mut changed);
        dirty.clear();
        changed.clear();
        (self.dirty, self.changed) = (dirty, changed);
        if let Some(padded) = padded {
            self.scratch = padded;
        }
        roots
    }

    #[inline(always)]
    fn climb<S: Set>(&mut self, plan: &Plan, words: &[u8], waves: &mut Waves, dirty: &mut S, changed: &mut S) -> Roots {
        assert_eq!(words.len(), self.words.len());
        self.compare(plan, words, dirty);
        while let Some(n) = dirty.take_first(plan.n_nodes) {
            let [a, b, c, d] = plan.sources[n];
            self.lookups[n] = if n < plan.n_leaves {
                waves.put_leaf(leaf(words, plan.sources[n]))
            } else {
                let part = |child: u32| {
                    let (number, lookup) = (self.numbers[child as usize], self.lookups[child as usize]);
                    let is_lookup = changed.has(child as usize);
                    (u64::from(if is_lookup { lookup } else { number }), u8::from(is_lookup))
                };
                let [a, b, c, d] = [part(a), part(b), part(c), part(d)];
                let content = [a.0 | b.0 << 32, c.0 | d.0 << 32];
                waves.put(plan.height_of[n] as usize, content, a.1 | b.1 << 1 | c.1 << 2 | d.1 << 3)
            };
            changed.put(n);
            dirty.put(plan.parent_of[n] as usize);
        }
        let is_lookup = [changed.has(plan.left), changed.has(plan.right)];
        let of = |i: usize, n: usize| if is_lookup[i] { self.lookups[n] } else { self.numbers[n] };
        Roots { of: [of(0, plan.left), of(1, plan.right)], is_lookup }
    }

    /// Becomes this key, whose roots it tells.
    #[inline(never)]
    pub fn follow(&mut self, plan: &Plan, nodes: &Nodes, key: &[u8]) -> Result<Roots, NoRoom> {
        let words = if plan.padded { self.pad(key) } else { key.to_vec() };
        let mut dirty = std::mem::take(&mut self.dirty);
        if self.fresh {
            (0..plan.n_nodes).for_each(|n| dirty.put(n));
        } else {
            self.compare(plan, &words, &mut dirty);
        }
        self.words.copy_from_slice(&words);
        // Until all nodes are found, these are no key's cells.
        self.fresh = true;
        let mut done = Ok(());
        while let Some(n) = dirty.take_first(plan.n_nodes) {
            let [a, b, c, d] = plan.sources[n].map(|child| u64::from(*self.numbers.get(child as usize).unwrap_or(&0)));
            let content = if n < plan.n_leaves { leaf(&words, plan.sources[n]) } else { [a | b << 32, c | d << 32] };
            match nodes.intern(content) {
                Ok(number) => self.numbers[n] = number,
                Err(no_room) => {
                    done = Err(no_room);
                    break;
                }
            }
            dirty.put(plan.parent_of[n] as usize);
        }
        dirty.clear();
        self.dirty = dirty;
        if plan.padded {
            self.scratch = words;
        }
        done?;
        self.fresh = false;
        Ok(Roots { of: [self.numbers[plan.left], self.numbers[plan.right]], is_lookup: [false; 2] })
    }

    /// The leaves with changed words become dirty.
    #[inline(always)]
    fn compare(&self, plan: &Plan, words: &[u8], dirty: &mut impl Set) {
        let (new, old) = (words.as_chunks::<16>().0.chunks(16), self.words.as_chunks::<16>().0.chunks(16));
        for ((new, old), leaf_of) in new.zip(old).zip(plan.leaf_of.chunks(64)) {
            let mut differ = differing(new, old);
            while differ != 0 {
                dirty.put(leaf_of[differ.trailing_zeros() as usize] as usize);
                differ &= differ - 1;
            }
        }
    }

    /// With zeros and the length behind it. By quads, because most keys are short.
    #[inline(always)]
    fn pad(&mut self, key: &[u8]) -> Vec<u8> {
        let mut words = std::mem::take(&mut self.scratch);
        words.resize(self.words.len(), 0);
        let (quads, rest) = key.as_chunks::<16>();
        let (to, _) = words.as_chunks_mut::<16>();
        let (to, behind) = to.split_at_mut(quads.len());
        for (to, quad) in to.iter_mut().zip(quads) {
            *to = *quad;
        }
        behind.iter_mut().for_each(|quad| *quad = [0; 16]);
        let (fours, bytes) = rest.as_chunks::<4>();
        let (to, _) = behind[0].as_chunks_mut::<4>();
        for (to, four) in to.iter_mut().zip(fours) {
            *to = *four;
        }
        if !bytes.is_empty() {
            to[fours.len()][..bytes.len()].copy_from_slice(bytes);
        }
        *words.last_chunk_mut().expect("the length has a word") = (key.len() as u32).to_le_bytes();
        words
    }

    /// Becomes the key with these roots.
    #[inline]
    pub fn unfold(&mut self, plan: &Plan, nodes: &Nodes, left: u32, right: u32) {
        for (n, number) in [(plan.left, left), (plan.right, right)] {
            if self.numbers[n] != number || self.fresh {
                self.go_down(plan, nodes, n, number);
            }
        }
        self.fresh = false;
    }

    fn go_down(&mut self, plan: &Plan, nodes: &Nodes, n: usize, number: u32) {
        self.numbers[n] = number;
        let [a, b] = nodes.get(number);
        let parts = [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32];
        let sources = &plan.sources[n];
        if n < plan.n_leaves {
            let (words, _) = self.words.as_chunks_mut();
            for i in 0..4 {
                words[sources[i] as usize] = parts[i].to_le_bytes();
            }
            return;
        }
        if nodes.is_large() {
            parts.iter().for_each(|part| nodes.prefetch_entry(*part));
        }
        for i in 0..4 {
            let child = sources[i] as usize;
            if (self.numbers[child] != parts[i] || self.fresh) && child < plan.n_nodes {
                self.go_down(plan, nodes, child, parts[i]);
            }
        }
    }

    /// The key whose cells these are.
    #[inline]
    pub fn key(&self, plan: &Plan, key: &mut Vec<u8>) {
        let n_bytes = match self.words.last_chunk() {
            Some(last) if plan.padded => u32::from_le_bytes(*last) as usize,
            _ => self.words.len(),
        };
        key.clear();
        key.extend_from_slice(&self.words[..n_bytes]);
    }
}

#[inline(always)]
fn leaf(words: &[u8], [a, b, c, d]: [u32; 4]) -> Content {
    let (words, _) = words.as_chunks::<4>();
    let word = |word: u32| u64::from(u32::from_le_bytes(words[word as usize]));
    [word(a) | word(b) << 32, word(c) | word(d) << 32]
}

/// A set of node indices, the least of which are taken first; what is put later is never less.
trait Set {
    fn put(&mut self, n: usize);
    /// The least one, if it is less than `limit`.
    fn take_first(&mut self, limit: usize) -> Option<usize>;
    fn has(&self, n: usize) -> bool;
}

/// Less than 64 nodes.
struct Few(u64);

impl Set for Few {
    #[inline(always)]
    fn put(&mut self, n: usize) {
        self.0 |= 1 << (n % 64);
    }

    #[inline(always)]
    fn take_first(&mut self, limit: usize) -> Option<usize> {
        let n = self.0.trailing_zeros() as usize;
        if n < limit {
            self.0 &= self.0 - 1;
            return Some(n);
        }
        None
    }

    #[inline(always)]
    fn has(&self, n: usize) -> bool {
        self.0 >> n & 1 == 1
    }
}

#[derive(Debug, Default)]
struct Many {
    bits: Vec<u64>,
    /// Words of `bits` before this one are zero.
    from: usize,
}

impl Many {
    fn clear(&mut self) {
        self.bits.fill(0);
        self.from = 0;
    }
}

impl Set for Many {
    fn put(&mut self, n: usize) {
        debug_assert!(n / 64 >= self.from);
        self.bits[n / 64] |= 1 << (n % 64);
    }

    fn take_first(&mut self, limit: usize) -> Option<usize> {
        while self.bits[self.from] == 0 {
            self.from += 1;
            if self.from == self.bits.len() {
                self.from = 0;
                return None;
            }
        }
        let word = &mut self.bits[self.from];
        let n = self.from * 64 + word.trailing_zeros() as usize;
        if n < limit {
            *word &= *word - 1;
            return Some(n);
        }
        None
    }

    fn has(&self, n: usize) -> bool {
        self.bits[n / 64] >> (n % 64) & 1 == 1
    }
}
