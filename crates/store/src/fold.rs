//! One key as words and node numbers, and the way to another key that differs little.
//!
//! # The argument
//!   A key's words determine its nodes' numbers upwards, and the two roots' numbers determine everything downwards.
//!   From one key to another only what differs need be touched. Upwards: every node above a changed word is
//!   looked up, children first. Downwards: where a node's number is the same, everything below it is.
//!
//!   Where a root is a number of its own (`direct`) a changed word changes its bits of the number, and the other way
//!   round; what is between is left as it was, and made right when somebody asks.
//!
//!   The roots are the nodes of which there are most, so looking them up is left to the caller, who has many keys
//!   at hand and lets their cache misses overlap.
//!
//! # Invariants
//!   I1 unless `fresh`, the words and the roots are those of one key, and unless `stale` so are all other numbers
//!   I2 between calls there is nothing to undo, and nothing is dirty
//!
//! # Cost  the words of a key are compared once; then a lookup for each node above a changed word.

use crate::memory::{differing, gather, scatter};
use crate::nodes::{Content, NoRoom, Nodes};
use crate::plan::{Flat, FlatWord, Plan};

/// The words and the node numbers of one key.
#[derive(Debug)]
pub struct Cells {
    words: Vec<u8>,
    /// One a node, then a zero for children that are not there.
    base: Vec<u32>,
    /// The same, but for the nodes in `undo`, while a key is folded.
    numbers: Vec<u32>,
    undo: Vec<u32>,
    n_undo: usize,
    fresh: bool,
    /// The numbers between the words and each root are those of another key.
    stale: [bool; 2],
    /// A padded key.
    scratch: Vec<u8>,
    dirty: Many,
}

/// The roots of a key. One that changed, and is no number of its own, has the number zero and is to be looked up.
#[derive(Clone, Copy, Debug)]
pub struct Roots {
    pub numbers: [u32; 2],
    pub changed: [bool; 2],
    pub contents: [Content; 2],
}

impl Roots {
    /// The numbers, once those that changed are handed to `root`.
    pub fn split(self, mut root: impl FnMut(u32, Content)) -> [u32; 2] {
        for side in 0..2 {
            if self.changed[side] {
                root(side as u32, self.contents[side]);
            }
        }
        self.numbers
    }
}

impl Cells {
    pub fn new(plan: &Plan) -> Cells {
        let (words, base, undo) = (vec![0; plan.n_words * 4], vec![0; plan.n_nodes + 1], vec![0; plan.n_nodes]);
        let dirty = Many { bits: vec![0; plan.n_nodes / 64 + 1], from: 0 };
        Cells {
            words,
            numbers: base.clone(),
            base,
            undo,
            n_undo: 0,
            fresh: true,
            stale: [false; 2],
            scratch: Vec::new(),
            dirty,
        }
    }

    /// Whether [`Cells::fold_near`] can be used: for keys like those that most systems have.
    #[inline]
    pub fn is_near(&self, plan: &Plan) -> bool {
        !plan.padded && plan.n_nodes < 64 && plan.n_words <= 64 && !self.fresh
    }

    /// The two roots of `key`, short and without detours: this is what a search does most. A root that changed is
    /// handed to `root`, left (0) or right (1), to be looked up, and has the number zero. The cells stay as they were.
    #[inline(always)]
    pub fn fold_near(
        &mut self,
        plan: &Plan,
        nodes: &Nodes,
        key: &[u8],
        root: impl FnMut(u32, Content),
    ) -> Result<[u32; 2], NoRoom> {
        let roots = self.fold_short(plan, nodes, key, root);
        debug_assert!(self.check_near(plan, nodes, key, &roots), "the short way leads where the long one does");
        roots
    }

    /// Where the numbers between are right, so that the long way changes none of the cells.
    fn check_near(&mut self, plan: &Plan, nodes: &Nodes, key: &[u8], roots: &Result<[u32; 2], NoRoom>) -> bool {
        let Ok(roots) = roots else { return true };
        self.stale != [false; 2] || self.fold(plan, nodes, key, false).is_ok_and(|long| long.numbers == *roots)
    }

    #[inline(always)]
    fn fold_short(
        &mut self,
        plan: &Plan,
        nodes: &Nodes,
        key: &[u8],
        root: impl FnMut(u32, Content),
    ) -> Result<[u32; 2], NoRoom> {
        debug_assert!(self.is_near(plan) && self.is_settled(), "I2");
        debug_assert_eq!(key.len(), self.words.len(), "a key of this class");
        let differ = differing(key.as_chunks().0, self.words.as_chunks().0);
        match &plan.flat {
            None => self.climb_near::<false>(plan, nodes, key, leaves_of(plan, differ), root),
            Some(flat) => {
                let mut numbers = [self.base[plan.left], self.base[plan.right]];
                match fold_flat(flat, plan, key, differ, &mut numbers) {
                    Some(0) => Ok(numbers),
                    Some(dirty) => {
                        let others = self.climb_near::<true>(plan, nodes, key, dirty, root)?;
                        let long_way = |side: usize| flat.sides[side].is_none();
                        Ok([0, 1].map(|side| if long_way(side) { others[side] } else { numbers[side] }))
                    }
                    None => {
                        self.refresh(plan);
                        self.climb_near::<true>(plan, nodes, key, leaves_of(plan, differ), root)
                    }
                }
            }
        }
    }

    /// From these leaves upwards. Only where there is something flat can contents be numbers of their own.
    #[inline(always)]
    fn climb_near<const FLAT: bool>(
        &mut self,
        plan: &Plan,
        nodes: &Nodes,
        key: &[u8],
        mut dirty: u64,
        mut root: impl FnMut(u32, Content),
    ) -> Result<[u32; 2], NoRoom> {
        let below = (1u64 << (plan.n_nodes - 2)) - 1;
        let mut changed = 0u64;
        while dirty & below != 0 {
            let n = dirty.trailing_zeros() as usize;
            dirty &= dirty - 1;
            let content = self.content(plan, key, n);
            let number = if FLAT { number_of(plan, nodes, n, content) } else { nodes.intern(content).map(of_node) };
            let number = match number {
                Ok(number) => number,
                Err(NoRoom) => {
                    self.restore(changed);
                    return Err(NoRoom);
                }
            };
            debug_assert!(plan.parent_of[n] as usize > n, "children come first");
            self.numbers[n] = number;
            changed |= 1 << n;
            dirty |= 1 << (plan.parent_of[n] % 64);
        }
        let mut numbers = [self.base[plan.left], self.base[plan.right]];
        if dirty >> plan.left & 1 == 1 {
            numbers[0] = self.root_near::<FLAT>(plan, key, plan.left, |content| root(0, content));
        }
        if dirty >> plan.right & 1 == 1 {
            numbers[1] = self.root_near::<FLAT>(plan, key, plan.right, |content| root(1, content));
        }
        self.restore(changed);
        Ok(numbers)
    }

    #[inline(always)]
    fn root_near<const FLAT: bool>(&self, plan: &Plan, key: &[u8], n: usize, root: impl FnOnce(Content)) -> u32 {
        let content = self.content(plan, key, n);
        if FLAT && let Some(number) = plan.direct[n].as_ref().and_then(|direct| direct.number(content)) {
            return number;
        }
        root(content);
        0
    }

    /// Makes the numbers between the words and the roots right. They are direct, or the root would not be.
    #[cold]
    fn refresh(&mut self, plan: &Plan) {
        for (side, root) in [plan.left, plan.right].into_iter().enumerate() {
            if std::mem::take(&mut self.stale[side]) {
                for n in plan.sources[root].map(|n| n as usize).into_iter().filter(|n| *n < plan.n_nodes) {
                    let content = self.content(plan, &self.words, n);
                    let number = plan.direct[n].as_ref().and_then(|direct| direct.number(content)).expect("direct");
                    (self.base[n], self.numbers[n]) = (number, number);
                }
            }
        }
    }

    /// I2.
    fn is_settled(&self) -> bool {
        self.n_undo == 0 && self.numbers == self.base && self.dirty.bits.iter().all(|bits| *bits == 0)
    }

    /// I1. The way down is taken by one node at a time, and the short way by all words, whether they changed or not.
    fn is_one_key(&self, plan: &Plan, nodes: &Nodes) -> bool {
        let roots = [plan.left, plan.right];
        let stale = |n: usize| (0..2).any(|side| self.stale[side] && roots[side] == n);
        let (words, _) = self.words.as_chunks::<4>();
        let is_like = |word: &[u8; 4], to: &FlatWord, number: u32| {
            u32::from_le_bytes(*word) == to.rest | scatter(u64::from(number >> to.shift), u64::from(to.mask)) as u32
        };
        let flat = plan.flat.as_ref().map_or(&[][..], |flat| &flat.words);
        let short = (0..2).filter(|side| self.stale[*side]).all(|side| {
            let mut own = words.iter().zip(flat).filter(|(_, to)| to.side == side as u32);
            own.all(|(word, to)| is_like(word, to, self.base[roots[side]]))
        });
        let long = (0..plan.n_nodes).filter(|n| !stale(*n) && !stale(plan.parent_of[*n] as usize));
        let is_right = |n: usize| content_of(plan, nodes, n, self.base[n]) == self.content(plan, &self.words, n);
        self.fresh || short && long.into_iter().all(is_right)
    }

    #[inline(always)]
    fn restore(&mut self, mut changed: u64) {
        while changed != 0 {
            let n = changed.trailing_zeros() as usize;
            self.numbers[n] = self.base[n];
            changed &= changed - 1;
        }
    }

    /// The two roots of any key. The cells stay as they were, unless they are to follow.
    pub fn fold(&mut self, plan: &Plan, nodes: &Nodes, key: &[u8], follow: bool) -> Result<Roots, NoRoom> {
        debug_assert!(self.is_settled(), "I2");
        self.fold_any(plan, nodes, key, follow)
    }

    #[inline(never)]
    fn fold_any(&mut self, plan: &Plan, nodes: &Nodes, key: &[u8], follow: bool) -> Result<Roots, NoRoom> {
        if self.stale != [false; 2] {
            self.refresh(plan);
        }
        let words = if plan.padded { self.pad(key) } else { key.to_vec() };
        let roots = if plan.n_nodes < 64 {
            self.climb(plan, nodes, &words, &mut Few(0))
        } else {
            let mut dirty = std::mem::take(&mut self.dirty);
            let roots = self.climb(plan, nodes, &words, &mut dirty);
            dirty.clear();
            self.dirty = dirty;
            roots
        };
        let roots = match roots {
            Ok(roots) if follow || self.fresh => self.follow(plan, nodes, &words, roots),
            roots => roots,
        };
        self.go_back();
        self.scratch = words;
        roots
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

    /// Looks up all nodes that changed, but for the roots.
    #[inline(always)]
    fn climb(&mut self, plan: &Plan, nodes: &Nodes, words: &[u8], dirty: &mut impl Set) -> Result<Roots, NoRoom> {
        assert_eq!(words.len(), self.words.len());
        self.compare(plan, words, dirty);
        if self.fresh {
            (0..plan.n_nodes).for_each(|n| dirty.put(n));
        }
        let n_below = plan.n_nodes - 2;
        while let Some(n) = dirty.take_first(n_below) {
            let number = number_of(plan, nodes, n, self.content(plan, words, n))?;
            debug_assert!(plan.parent_of[n] as usize > n, "children come first");
            self.numbers[n] = number;
            self.undo[self.n_undo] = n as u32;
            self.n_undo += 1;
            dirty.put(plan.parent_of[n] as usize);
        }
        let roots = [plan.left, plan.right];
        let mut changed = roots.map(|n| dirty.has(n));
        let contents = roots.map(|n| self.content(plan, words, n));
        let mut numbers = roots.map(|n| self.base[n]);
        for (side, n) in roots.into_iter().enumerate() {
            if changed[side] {
                let direct = plan.direct[n].as_ref().and_then(|d| d.number(contents[side]));
                changed[side] = direct.is_none();
                numbers[side] = direct.unwrap_or(0);
            }
        }
        Ok(Roots { numbers, changed, contents })
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

    #[inline(always)]
    fn content(&self, plan: &Plan, words: &[u8], n: usize) -> Content {
        let sources = &plan.sources[n];
        let Some(leaf) = &plan.leaves[n] else {
            let numbers = &self.numbers[..];
            return pair_up(|i| numbers[sources[i] as usize]);
        };
        if leaf.paired {
            let (twos, _) = words.as_chunks::<8>();
            let two = |i: usize| u64::from_le_bytes(twos[leaf.pairs[i] as usize]) & leaf.masks[i];
            return [two(0), two(1), two(2), two(3)];
        }
        let (words, _) = words.as_chunks::<4>();
        pair_up(|i| words.get(sources[i] as usize).map_or(0, |word| u32::from_le_bytes(*word)))
    }

    /// Becomes this key.
    fn follow(&mut self, plan: &Plan, nodes: &Nodes, words: &[u8], mut roots: Roots) -> Result<Roots, NoRoom> {
        for i in 0..2 {
            if std::mem::take(&mut roots.changed[i]) {
                roots.numbers[i] = of_node(nodes.intern(roots.contents[i])?);
            }
        }
        self.numbers[plan.left] = roots.numbers[0];
        self.numbers[plan.right] = roots.numbers[1];
        self.base.copy_from_slice(&self.numbers);
        self.words.copy_from_slice(words);
        self.fresh = false;
        debug_assert!(self.is_one_key(plan, nodes), "I1");
        Ok(roots)
    }

    #[inline(always)]
    fn go_back(&mut self) {
        for &n in &self.undo[..self.n_undo] {
            self.numbers[n as usize] = self.base[n as usize];
        }
        self.n_undo = 0;
        debug_assert!(self.numbers == self.base, "I2");
    }

    /// Becomes the key with these roots.
    #[inline]
    pub fn unfold(&mut self, plan: &Plan, nodes: &Nodes, left: u32, right: u32) {
        debug_assert!(self.is_settled(), "I2");
        self.unfold_any(plan, nodes, left, right);
        debug_assert_eq!([self.base[plan.left], self.base[plan.right]], [left, right], "I1");
        debug_assert!(self.is_one_key(plan, nodes), "I1");
    }

    #[inline(always)]
    fn unfold_any(&mut self, plan: &Plan, nodes: &Nodes, left: u32, right: u32) {
        if plan.flat.is_none() {
            for (n, number) in [(plan.left, left), (plan.right, right)] {
                if self.base[n] != number || self.fresh {
                    self.go_down(plan, nodes, n, number, self.fresh);
                }
            }
            self.fresh = false;
            return;
        }
        for (side, n, number) in [(0, plan.left, left), (1, plan.right, right)] {
            let before = self.base[n];
            if before == number && !self.fresh {
                continue;
            }
            match plan.flat.as_ref().and_then(|flat| Some((&flat.words, flat.sides[side].as_ref()?))) {
                Some((words, side_words)) if (before | number) & 1 == 0 && !self.fresh => {
                    unfold_flat(words, side_words, &mut self.words, before, number);
                    (self.base[n], self.numbers[n]) = (number, number);
                    self.stale[side] = plan.leaves[n].is_none();
                }
                _ => {
                    // What is below is gone through whole if it is not known what was there.
                    let whole = self.fresh | std::mem::take(&mut self.stale[side]);
                    self.go_down(plan, nodes, n, number, whole);
                }
            }
        }
        self.fresh = false;
    }

    fn go_down(&mut self, plan: &Plan, nodes: &Nodes, n: usize, number: u32, whole: bool) {
        (self.base[n], self.numbers[n]) = (number, number);
        let parts = content_of(plan, nodes, n, number).map(|two| [two as u32, (two >> 32) as u32]);
        let parts = parts.as_flattened().iter().zip(&plan.sources[n]);
        if plan.leaves[n].is_some() {
            let (words, _) = self.words.as_chunks_mut();
            for (part, source) in parts {
                if let Some(word) = words.get_mut(*source as usize) {
                    *word = part.to_le_bytes();
                }
            }
            return;
        }
        if nodes.is_large() {
            parts.clone().for_each(|(part, _)| prefetch(nodes, *part));
        }
        for (part, source) in parts {
            let child = *source as usize;
            if child < plan.n_nodes && (self.base[child] != *part || whole) {
                self.go_down(plan, nodes, child, *part, whole);
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
        debug_assert!(!self.fresh, "the cells are some key's");
        key.clear();
        key.extend_from_slice(&self.words[..n_bytes]);
    }
}

/// The leaves of these words.
#[inline(always)]
fn leaves_of(plan: &Plan, mut words: u64) -> u64 {
    let mut leaves = 0;
    while words != 0 {
        leaves |= 1 << (plan.leaf_of[words.trailing_zeros() as usize] % 64);
        words &= words - 1;
    }
    leaves
}

/// Changes the roots as the words do that differ; the leaves of those that have to go the long way. `None` if some word is
/// not like the sample.
#[inline(always)]
fn fold_flat(flat: &Flat, plan: &Plan, key: &[u8], mut differ: u64, numbers: &mut [u32; 2]) -> Option<u64> {
    let (mut odd, mut dirty) = (0, 0);
    let (words, _) = key.as_chunks::<4>();
    while differ != 0 {
        let w = differ.trailing_zeros() as usize;
        differ &= differ - 1;
        let (word, to) = (u32::from_le_bytes(words[w]), &flat.words[w]);
        match numbers.get_mut(to.side as usize) {
            Some(number) => {
                odd |= (word & !to.mask) ^ to.rest | *number & 1;
                *number = *number & !to.field | (gather(u64::from(word), u64::from(to.mask)) as u32) << to.shift;
            }
            None => dirty |= 1 << (plan.leaf_of[w] % 64),
        }
    }
    (odd == 0).then_some(dirty)
}

/// Changes the words as their root does.
#[inline(always)]
fn unfold_flat(flat: &[FlatWord], side: &[u32], words: &mut [u8], before: u32, number: u32) {
    let (words, _) = words.as_chunks_mut::<4>();
    for &w in side {
        let to = &flat[w as usize];
        if to.field & (before ^ number) != 0 {
            let word = to.rest | scatter(u64::from(number >> to.shift), u64::from(to.mask)) as u32;
            words[w as usize] = word.to_le_bytes();
        }
    }
}

/// The number of this content at this place of the tree: its own, or a node's.
#[inline(always)]
fn number_of(plan: &Plan, nodes: &Nodes, n: usize, content: Content) -> Result<u32, NoRoom> {
    match plan.direct[n].as_ref().and_then(|direct| direct.number(content)) {
        Some(number) => Ok(number),
        None => nodes.intern(content).map(of_node),
    }
}

/// Numbers of nodes are odd.
#[inline(always)]
pub fn of_node(n: u32) -> u32 {
    n << 1 | 1
}

#[inline(always)]
fn content_of(plan: &Plan, nodes: &Nodes, n: usize, number: u32) -> Content {
    match &plan.direct[n] {
        Some(direct) if number & 1 == 0 => direct.content(number),
        _ => {
            debug_assert_eq!(number & 1, 1, "the number of a node");
            nodes.get(number >> 1)
        }
    }
}

/// Starts fetching what is behind a number.
#[inline(always)]
pub fn prefetch(nodes: &Nodes, number: u32) {
    if number & 1 == 1 {
        nodes.prefetch_entry(number >> 1);
    }
}

/// Written out, so that the parts stay in registers: to lay them into memory by fours and take them out by eights
/// costs more than the lookup.
#[inline(always)]
fn pair_up(part: impl Fn(usize) -> u32) -> Content {
    let two = |i: usize| u64::from(part(i)) | u64::from(part(i + 1)) << 32;
    [two(0), two(2), two(4), two(6)]
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
        debug_assert!(n / 64 >= self.from, "what is put later is never less");
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
