//! How the words of a key hang in a tree.
//!
//! # The argument
//!   A key is a sequence of 32-bit words. Up to eight words that lie together are the content of a leaf node;
//!   an inner node's content is the numbers of up to eight nodes. The words are split into two halves, each with
//!   a root, and a half into nearly equal leaves, eight or fewer to a node above them. So a change of one word
//!   changes one node on every level: two up to 128 words, one up to 16. (With four instead of eight the nodes are
//!   smaller, but there are more of them and a level more to look up, which costs more time than the store has to
//!   spare.)
//!
//!   Keys of a class have the same tree. A key of 4q words, q ≤ 16, has class q and nothing else does; any other
//!   key is padded with zeros, and its length in bytes is its last word. So a name, which says the class, says the
//!   length, and different keys have different names.
//!
//!   Words are taken two at a time where the order keeps pairs together, which is faster.
//!
//!   Which words lie together decides how many nodes there are; that is the caller's knowledge, given as an order
//!   of the words.
//!
//!   From some keys a plan learns which halves are numbers of their own (`direct`). In these a word contributes some
//!   bits to the number, wherever it hangs, so that nothing between the word and the root is needed ([`Flat`]).
//!
//! # Numbering
//!   A plan numbers its nodes: first the leaves, in the order of the words, then the inner nodes, children before
//!   parents, and the two roots last, whether they are leaves or not.

use crate::Hint;
use crate::direct::{Direct, Part, ROOMY_BITS};
use crate::nodes::Content;
use std::ops::Range;

const EXACT: usize = 16;
const COARSE: [usize; 8] = [20, 24, 28, 32, 40, 48, 56, 64];
const MAX_QUADS: usize = 1 << 22;

/// Less than 64: a name has six bits for it.
pub const N_CLASSES: usize = 2 * EXACT + 1 + COARSE.len() + 16;

/// The class of keys with so many bytes, if there is one, and the number of its words.
#[inline]
pub fn class_of(n_bytes: usize) -> Option<usize> {
    if n_bytes.is_multiple_of(16) && n_bytes <= EXACT * 16 { Some(n_bytes / 16) } else { padded_class(n_bytes) }
}

fn padded_class(n_bytes: usize) -> Option<usize> {
    let n_quads = (n_bytes.div_ceil(4) + 1).div_ceil(4);
    if n_quads <= EXACT {
        return Some(EXACT + n_quads);
    }
    if let Some(i) = COARSE.iter().position(|&most| n_quads <= most) {
        return Some(2 * EXACT + 1 + i);
    }
    let octave = n_quads.next_power_of_two().ilog2() as usize - 7;
    (n_quads <= MAX_QUADS).then_some(2 * EXACT + 1 + COARSE.len() + octave)
}

fn n_quads(class: usize) -> usize {
    match class {
        ..=EXACT => class,
        _ if class <= 2 * EXACT => class - EXACT,
        _ => {
            let i = class - (2 * EXACT + 1);
            if i < COARSE.len() { COARSE[i] } else { 128 << (i - COARSE.len()) }
        }
    }
}

const FLAT_WORDS: usize = 64;

/// Words in a leaf, and children of an inner node.
pub const WIDTH: usize = 8;

/// See the module.
#[derive(Debug)]
pub struct Plan {
    pub n_words: usize,
    /// Whether the last word is the key's length.
    pub padded: bool,
    pub n_nodes: usize,
    /// For each leaf its words, for each other node its children; where there is none, [`NO_WORD`] and `n_nodes`.
    pub sources: Vec<[u32; WIDTH]>,
    /// How each leaf takes its words; `None` for other nodes.
    pub leaves: Vec<Option<Leaf>>,
    /// For each word its leaf.
    pub leaf_of: Vec<u32>,
    /// For each node the one above it; `n_nodes` for the two roots.
    pub parent_of: Vec<u32>,
    pub left: usize,
    pub right: usize,
    /// For each node how contents are numbers of their own, if they are.
    pub direct: Vec<Option<Direct>>,
    /// Where a root is a number of its own.
    pub flat: Option<Flat>,
}

/// The way from words to a root and back that leaves out what is between.
#[derive(Debug)]
pub struct Flat {
    pub words: Vec<FlatWord>,
    /// The words that contribute anything to each root; `None` where the long way has to be taken.
    pub sides: [Option<Vec<u32>>; 2],
}

#[derive(Clone, Copy, Debug)]
pub struct FlatWord {
    pub mask: u32,
    pub rest: u32,
    pub shift: u32,
    /// Which root, and which of its bits; [`LONG_WAY`] if the root is none of its own.
    pub side: u32,
    pub field: u32,
}

pub const LONG_WAY: u32 = 2;

/// No key has so many words.
const NO_WORD: u32 = NONE;

/// The words of a leaf, two at a time.
#[derive(Debug)]
pub struct Leaf {
    /// Whether they can be had so: every second word follows the one before it, which has an even place.
    pub paired: bool,
    pub pairs: [u32; WIDTH / 2],
    /// All ones, or zero for a pair that is not there.
    pub masks: [u64; WIDTH / 2],
}

impl Leaf {
    fn new(words: &[u32; WIDTH]) -> Leaf {
        let (twos, _) = words.as_chunks::<2>();
        let fits = |[a, b]: &[u32; 2]| a % 2 == 0 && a + 1 == *b;
        let there = |i: usize| twos[i] != [NO_WORD; 2];
        Leaf {
            paired: there(0) && (0..WIDTH / 2).all(|i| !there(i) || fits(&twos[i])),
            pairs: std::array::from_fn(|i| if there(i) { twos[i][0] / 2 } else { 0 }),
            masks: std::array::from_fn(|i| if there(i) { u64::MAX } else { 0 }),
        }
    }
}

impl Plan {
    /// `order[j]` is the word that comes `j`-th; where it is no permutation of the first so many words, and for
    /// words that it does not mention, the words keep their order. From the sample the plan learns which contents can
    /// be numbers of their own.
    pub fn new(class: usize, Hint { order, sample }: &Hint) -> Plan {
        let (n_words, padded) = (n_quads(class) * 4, class > EXACT);
        let words = complete(order, n_words, n_words - usize::from(padded));
        let (left, right) = words.split_at(n_words / 2);
        let mut tree: Vec<[u32; WIDTH]> = Vec::new();
        let [left, right] = [left, right].map(|words| {
            let from = tree.len();
            let parts = parts(words.len() / 2, words.len().div_ceil(WIDTH).max(1));
            tree.extend(parts.map(|part| few(&words[2 * part.start..2 * part.end])));
            from..tree.len()
        });
        let n_leaves = tree.len();
        let [left, right] = [left, right].map(|leaves| Half::new(&mut tree, leaves).root(&mut tree));
        let n_nodes = tree.len();
        // The roots come last, whatever they are.
        let mut numbers: Vec<usize> = (0..n_nodes).filter(|n| *n != left && *n != right).chain([left, right]).collect();
        let is_leaf: Vec<bool> = numbers.iter().map(|old| *old < n_leaves).collect();
        let old = std::mem::take(&mut tree);
        tree.extend(numbers.iter().map(|n| old[*n]));
        let mut new_of = vec![0; n_nodes];
        numbers.drain(..).enumerate().for_each(|(new, old)| new_of[old] = new as u32);
        let (left, right) = (n_nodes - 2, n_nodes - 1);
        let (mut leaf_of, mut parent_of) = (vec![NONE; n_words], vec![n_nodes as u32; n_nodes]);
        for (n, sources) in tree.iter_mut().enumerate() {
            if is_leaf[n] {
                for source in sources.iter().filter(|source| **source != NONE) {
                    let before = std::mem::replace(&mut leaf_of[*source as usize], n as u32);
                    assert_eq!(before, NONE, "a word hangs in one leaf");
                }
                continue;
            }
            for source in sources.iter_mut() {
                if *source == NONE {
                    *source = n_nodes as u32;
                    continue;
                }
                *source = new_of[*source as usize];
                assert!((*source as usize) < n, "children come before parents");
                let before = std::mem::replace(&mut parent_of[*source as usize], n as u32);
                assert_eq!(before, n_nodes as u32, "a node hangs in one other");
            }
        }
        assert!(leaf_of.iter().all(|leaf| *leaf != NONE), "every word hangs in a leaf");
        let leaves = tree.iter().zip(&is_leaf).map(|(words, leaf)| leaf.then(|| Leaf::new(words))).collect();
        let direct = vec![None; n_nodes];
        let mut plan = Plan {
            n_words,
            padded,
            n_nodes,
            sources: tree,
            leaves,
            leaf_of,
            parent_of,
            left,
            right,
            direct,
            flat: None,
        };
        plan.learn(sample);
        plan
    }

    fn learn(&mut self, sample: &[Vec<u8>]) {
        let keys: Vec<&[[u8; 4]]> =
            sample.iter().map(|key| key.as_chunks().0).filter(|words| words.len() == self.n_words).collect();
        if self.padded || keys.len() < FEW {
            return;
        }
        for root in [self.left, self.right] {
            let mut below: Vec<usize> = (0..self.n_nodes).filter(|n| self.root_of(*n) == root).collect();
            below.sort_unstable();
            for room in [true, false] {
                for &n in &below {
                    self.direct[n] = self.learn_node(n, &keys, room);
                }
                if self.direct[root].is_some_and(|direct| direct.bits <= ROOMY_BITS) {
                    break;
                }
            }
        }
        // The two roots together must not be much wider than a table that is still small.
        let width = |d: &Option<Direct>| d.map_or(USUAL_BITS, |d| d.bits);
        while width(&self.direct[self.left]) + width(&self.direct[self.right]) > MOST_ROOT_BITS {
            let wide =
                if width(&self.direct[self.left]) > width(&self.direct[self.right]) { self.left } else { self.right };
            self.direct[wide] = None;
        }
        self.flat = self.flatten();
        // What hangs below a root that is a node is looked up as fast.
        for n in 0..self.n_nodes {
            let side = usize::from(self.root_of(n) == self.right);
            if self.flat.as_ref().is_none_or(|flat| flat.sides[side].is_none()) {
                self.direct[n] = None;
            }
        }
    }

    fn learn_node(&self, n: usize, keys: &[&[[u8; 4]]], room: bool) -> Option<Direct> {
        let sources = &self.sources[n];
        if self.leaves[n].is_some() {
            let word = |key: &[[u8; 4]], w: u32| key.get(w as usize).map_or(0, |word| u32::from_le_bytes(*word));
            let content = |key: &&[[u8; 4]]| -> Content {
                let two = |i: usize| u64::from(word(key, sources[i])) | u64::from(word(key, sources[i + 1])) << 32;
                [two(0), two(2), two(4), two(6)]
            };
            return Direct::of_leaf(&keys.iter().map(content).collect::<Vec<_>>(), room);
        }
        let there = |child: &u32| (*child as usize) < self.n_nodes;
        let bits = sources.map(|child| self.direct.get(child as usize)?.map(|d| d.bits));
        let all = sources.iter().zip(&bits).all(|(child, bits)| !there(child) || bits.is_some());
        if all { Direct::of_inner(&bits) } else { None }
    }

    fn root_of(&self, mut n: usize) -> usize {
        while (self.parent_of[n] as usize) < self.n_nodes {
            n = self.parent_of[n] as usize;
        }
        n
    }

    fn flatten(&self) -> Option<Flat> {
        let roots = [self.left, self.right];
        // Not where there is another level between the leaves and the root.
        let is_flat = |root: usize| {
            let leaf = |child: &u32| self.leaves.get(*child as usize).is_none_or(Option::is_some);
            self.direct[root].is_some() && (self.leaves[root].is_some() || self.sources[root].iter().all(leaf))
        };
        if self.n_words > FLAT_WORDS || !roots.iter().any(|root| is_flat(*root)) {
            return None;
        }
        let long_way = FlatWord { mask: 0, rest: 0, shift: 0, side: LONG_WAY, field: 0 };
        let mut words = vec![long_way; self.n_words];
        for (side, root) in roots.into_iter().enumerate().filter(|(_, root)| is_flat(*root)) {
            let inner = |i: usize, child: u32| {
                let above = self.direct[root].expect("is flat").part(i).shift;
                (child as usize, above - 1) // a child's own lowest bit is not taken over
            };
            let leaves: Vec<(usize, u32)> = if self.leaves[root].is_some() {
                vec![(root, 0)]
            } else {
                let children = self.sources[root].into_iter().enumerate();
                children.filter(|(_, child)| (*child as usize) < self.n_nodes).map(|(i, c)| inner(i, c)).collect()
            };
            for (leaf, above) in leaves {
                let direct = self.direct[leaf].expect("what is below a direct number is one");
                for (i, word) in self.sources[leaf].iter().enumerate().filter(|(_, word)| **word != NO_WORD) {
                    let Part { mask, rest, shift } = direct.part(i);
                    let shift = shift + above;
                    let field = (((1u64 << mask.count_ones()) - 1) << shift) as u32;
                    words[*word as usize] = FlatWord { mask, rest, shift, side: side as u32, field };
                }
            }
        }
        let contributes = |w: &u32, side: usize| words[*w as usize].side == side as u32 && words[*w as usize].mask != 0;
        let of = |side: usize| (0..self.n_words as u32).filter(|w| contributes(w, side)).collect();
        let sides = [0, 1].map(|side| is_flat(roots[side]).then(|| of(side)));
        for side in (0..2).filter(|side| is_flat(roots[*side])) {
            let bits = self.direct[roots[side]].map_or(0, |direct| direct.bits);
            let own = || words.iter().filter(|word| word.side == side as u32).map(|word| word.field);
            let all = own().fold(0, |all, field| all | field);
            assert!(own().map(u32::count_ones).sum::<u32>() == bits, "no two words have a bit in common");
            assert!(u64::from(all) == ((1 << bits) - 1) << 1, "every bit of the number is some word's");
        }
        Some(Flat { sides, words })
    }
}

/// Fewer keys say too little.
const FEW: usize = 100;
/// What the numbers of nodes have in a search of a million states.
const USUAL_BITS: u32 = 16;
const MOST_ROOT_BITS: u32 = 44;

/// `0..n` in so many nearly equal parts.
fn parts(n: usize, n_parts: usize) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    (0..n_parts).map(move |i| {
        let part = from..from + (n - from).div_ceil(n_parts - i);
        from = part.end;
        part
    })
}

fn few(some: &[u32]) -> [u32; WIDTH] {
    std::array::from_fn(|i| some.get(i).copied().unwrap_or(NONE))
}

const NONE: u32 = u32::MAX;

fn complete(order: &[u32], n_words: usize, n_movable: usize) -> Vec<u32> {
    let mut seen = vec![false; order.len()];
    let fresh = |&w: &u32| seen.get_mut(w as usize).is_some_and(|s| !std::mem::replace(s, true));
    let fits = order.len() <= n_movable && order.iter().all(fresh);
    let moved = if fits { order } else { &[] };
    moved.iter().copied().chain(moved.len() as u32..n_words as u32).collect()
}

/// A half whose root has no number yet.
enum Half {
    Leaf(usize),
    Inner([u32; WIDTH]),
}

impl Half {
    fn new(tree: &mut Vec<[u32; WIDTH]>, leaves: Range<usize>) -> Half {
        if leaves.len() == 1 {
            return Half::Leaf(leaves.start);
        }
        let children: Vec<u32> = parts(leaves.len(), leaves.len().min(WIDTH))
            .map(|part| Half::new(tree, leaves.start + part.start..leaves.start + part.end).root(tree) as u32)
            .collect();
        Half::Inner(few(&children))
    }

    fn root(self, tree: &mut Vec<[u32; WIDTH]>) -> usize {
        match self {
            Half::Leaf(leaf) => leaf,
            Half::Inner(children) => {
                tree.push(children);
                tree.len() - 1
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_class_and_a_last_word_say_the_length() {
        let mut last = None;
        for n_bytes in (0..3000).chain((3000..2_000_000).step_by(997)) {
            let class = class_of(n_bytes).expect("not too long");
            assert!(class < N_CLASSES && N_CLASSES <= 64);
            if class <= EXACT {
                assert_eq!(n_quads(class) * 16, n_bytes);
            } else {
                assert!(n_quads(class) * 4 > n_bytes.div_ceil(4), "the length has a word of its own");
                assert!(last <= Some(class), "longer keys have higher classes");
                last = Some(class);
            }
        }
        assert_eq!(class_of(MAX_QUADS * 16 - 4), Some(N_CLASSES - 1));
        assert_eq!(class_of(MAX_QUADS * 16), None);
        assert_eq!(n_quads(N_CLASSES - 1), MAX_QUADS);
    }

    #[test]
    fn thirty_two_words_hang_in_two_halves_of_two_leaves() {
        let plan = Plan::new(8, &Hint::default());
        assert_eq!((plan.n_words, plan.n_nodes), (32, 6));
        assert_eq!(plan.sources[1], [8, 9, 10, 11, 12, 13, 14, 15]);
        let leaf = plan.leaves[1].as_ref().expect("a leaf");
        assert!(leaf.paired && leaf.pairs == [4, 5, 6, 7] && leaf.masks == [u64::MAX; 4]);
        assert_eq!(plan.sources[4..], [[0, 1, 6, 6, 6, 6, 6, 6], [2, 3, 6, 6, 6, 6, 6, 6]]);
        assert_eq!((plan.left, plan.right), (4, 5));
        assert_eq!((plan.leaf_of[9], plan.parent_of[1], plan.parent_of[4]), (1, 4, 6));
        let none = Plan::new(0, &Hint::default());
        assert_eq!((none.n_nodes, none.sources[1]), (2, [NO_WORD; WIDTH]));
    }

    #[test]
    fn an_order_moves_words_and_a_wrong_one_does_not() {
        let words = |class, order: &[u32]| -> Vec<u32> {
            let plan = Plan::new(class, &Hint { order: order.to_vec(), ..Hint::default() });
            let leaves = plan.sources.iter().zip(&plan.leaves).filter(|(_, leaf)| leaf.is_some());
            leaves.flat_map(|(words, _)| *words).filter(|w| *w != NO_WORD).collect()
        };
        assert_eq!(words(1, &[3, 1, 0, 2]), [3, 1, 0, 2]);
        assert_eq!(words(1, &[3, 1, 3, 2]), [0, 1, 2, 3]);
        assert_eq!(words(1, &[3, 1, 4, 2]), [0, 1, 2, 3]);
        assert_eq!(words(1, &[0; 5]), [0, 1, 2, 3]);
        let padded = class_of(11).expect("not too long");
        assert_eq!(words(padded, &[2, 1, 0]), [2, 1, 0, 3]);
        assert_eq!(words(padded, &[3, 2, 1, 0]), [0, 1, 2, 3], "the length stays last");
    }

    #[test]
    fn every_class_has_a_tree() {
        (0..N_CLASSES - 6).for_each(|class| drop(Plan::new(class, &Hint::default())));
    }
}
