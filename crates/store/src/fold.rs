//! One key as words and node numbers, and the way to another key that differs little.
//!
//! # The argument
//!   The cells of a key (see `plan`) determine each other: words determine the nodes upwards, the two roots determine
//!   everything downwards. From one key's cells to another's only what differs need be touched. Upwards: put
//!   the changed words, look up each node that has a changed cell, and if its number changed its parent has one.
//!   Downwards: if a node's number is the same, everything below it is.
//!
//! # Invariants
//!   I1 unless `fresh`, every node's cell is the number of the node whose content the plan says
//!   I2 between calls nothing is dirty, and there is nothing to undo

use crate::nodes::{Content, NoRoom, Nodes};
use crate::plan::{NONE, Plan};

/// The cells of one key.
#[derive(Debug)]
pub struct Cells {
    all: Vec<u32>,
    fresh: bool,
    /// One bit a node: its content may have changed.
    dirty: Vec<u64>,
    /// Cells that were changed, and what was in them.
    undo: Vec<(u32, u32)>,
}

impl Cells {
    pub fn new(plan: &Plan) -> Cells {
        let dirty = vec![0; plan.n_nodes().div_ceil(64)];
        Cells { all: vec![0; plan.n_cells()], fresh: true, dirty, undo: Vec::new() }
    }

    /// The two roots of `key`. The cells stay as they were, unless they are to follow.
    #[inline]
    pub fn fold(&mut self, plan: &Plan, nodes: &Nodes, key: &[u8], follow: bool) -> Result<(u32, u32), NoRoom> {
        debug_assert!(self.undo.is_empty() && self.dirty.iter().all(|&d| d == 0), "I2");
        self.put_words(plan, key);
        if self.fresh {
            (0..plan.n_nodes()).for_each(|n| self.dirty[n / 64] |= 1 << (n % 64));
        }
        for w in 0..self.dirty.len() {
            while self.dirty[w] != 0 {
                let n = w * 64 + self.dirty[w].trailing_zeros() as usize;
                self.dirty[w] &= self.dirty[w] - 1;
                match nodes.intern(self.content(plan, n)) {
                    Ok(number) => self.set(plan, plan.n_words + n, number),
                    Err(no_room) => {
                        self.dirty.fill(0);
                        self.go_back();
                        return Err(no_room);
                    }
                }
            }
        }
        let roots = (self.all[plan.left], self.all[plan.right]);
        if follow || self.fresh {
            self.fresh = false;
            self.undo.clear();
        } else {
            self.go_back();
        }
        Ok(roots)
    }

    /// The cells of the key with these roots.
    pub fn unfold(&mut self, plan: &Plan, nodes: &Nodes, left: u32, right: u32) {
        debug_assert!(self.undo.is_empty() && self.dirty.iter().all(|&d| d == 0), "I2");
        self.go_down(plan, plan.left, left);
        self.go_down(plan, plan.right, right);
        for w in (0..self.dirty.len()).rev() {
            while self.dirty[w] != 0 {
                let n = w * 64 + self.dirty[w].ilog2() as usize;
                self.dirty[w] ^= 1 << (n % 64);
                let [a, b] = nodes.get(self.all[plan.n_words + n]);
                let [c0, c1, c2, c3] = plan.sources[n];
                self.go_down(plan, c0 as usize, a as u32);
                self.go_down(plan, c1 as usize, (a >> 32) as u32);
                self.go_down(plan, c2 as usize, b as u32);
                self.go_down(plan, c3 as usize, (b >> 32) as u32);
            }
        }
        debug_assert_eq!(self.all.last(), Some(&0));
        self.fresh = false;
    }

    /// The key whose cells these are.
    pub fn key(&self, plan: &Plan, key: &mut Vec<u8>) {
        let n_bytes = if plan.padded { self.all[plan.n_words - 1] as usize } else { plan.n_words * 4 };
        key.clear();
        key.resize(plan.n_words * 4, 0);
        for (four, word) in key.as_chunks_mut::<4>().0.iter_mut().zip(&self.all) {
            *four = word.to_le_bytes();
        }
        key.truncate(n_bytes);
    }

    #[inline]
    fn put_words(&mut self, plan: &Plan, key: &[u8]) {
        let (quads, rest) = key.as_chunks::<16>();
        for (q, quad) in quads.iter().enumerate() {
            let (fours, _) = quad.as_chunks::<4>();
            let new: [u32; 4] = std::array::from_fn(|i| u32::from_le_bytes(fours[i]));
            let old = self.all[q * 4..].first_chunk::<4>().expect("a class has room for its keys");
            if new != *old {
                (0..4).for_each(|i| self.set(plan, q * 4 + i, new[i]));
            }
        }
        if plan.padded {
            let from = quads.len() * 4;
            for word in from..plan.n_words - 1 {
                let bytes = rest.get((word - from) * 4..).unwrap_or_default();
                let four = std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0));
                self.set(plan, word, u32::from_le_bytes(four));
            }
            self.set(plan, plan.n_words - 1, key.len() as u32);
        }
    }

    #[inline]
    fn set(&mut self, plan: &Plan, cell: usize, value: u32) {
        let old = std::mem::replace(&mut self.all[cell], value);
        if old != value {
            self.undo.push((cell as u32, old));
            let parent = plan.parents[cell];
            if parent != NONE {
                self.dirty[parent as usize / 64] |= 1 << (parent % 64);
            }
        }
    }

    #[inline]
    fn go_down(&mut self, plan: &Plan, cell: usize, value: u32) {
        let old = std::mem::replace(&mut self.all[cell], value);
        let node = cell.wrapping_sub(plan.n_words);
        if node < plan.n_nodes() && (old != value || self.fresh) {
            self.dirty[node / 64] |= 1 << (node % 64);
        }
    }

    #[inline]
    fn go_back(&mut self) {
        while let Some((cell, old)) = self.undo.pop() {
            self.all[cell as usize] = old;
        }
    }

    #[inline]
    fn content(&self, plan: &Plan, n: usize) -> Content {
        let [a, b, c, d] = plan.sources[n].map(|cell| u64::from(self.all[cell as usize]));
        [a | b << 32, c | d << 32]
    }
}
