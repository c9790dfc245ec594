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
//! # Numbering
//!   A plan numbers its nodes: first the leaves, in the order of the words, then the inner nodes, children before
//!   parents, and the two roots last.

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

/// Words in a leaf, and children of an inner node.
pub const WIDTH: usize = 8;

/// See the module.
#[derive(Debug)]
pub struct Plan {
    pub n_words: usize,
    /// Whether the last word is the key's length.
    pub padded: bool,
    pub n_leaves: usize,
    pub n_nodes: usize,
    /// For each leaf its words, for each other node its children; where there is none, [`NO_WORD`] and `n_nodes`.
    pub sources: Vec<[u32; WIDTH]>,
    /// How each leaf takes its words.
    pub leaves: Vec<Leaf>,
    /// For each word its leaf.
    pub leaf_of: Vec<u32>,
    /// For each node the one above it; `n_nodes` for the two roots.
    pub parent_of: Vec<u32>,
    pub left: usize,
    pub right: usize,
}

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
    /// words that it does not mention, the words keep their order.
    pub fn new(class: usize, order: &[u32]) -> Plan {
        let (n_words, padded) = (n_quads(class) * 4, class > EXACT);
        let words = complete(order, n_words, n_words - usize::from(padded));
        let (left, right) = words.split_at(n_words.div_ceil(2));
        let mut tree: Vec<[u32; WIDTH]> = Vec::new();
        let [left, right] = [left, right].map(|words| {
            let from = tree.len();
            let parts = parts(words.len() / 2, words.len().div_ceil(WIDTH).max(1));
            tree.extend(parts.map(|part| few(&words[2 * part.start..2 * part.end])));
            from..tree.len()
        });
        let n_leaves = tree.len();
        // What is below both roots comes before them.
        let [left, right] = [left, right].map(|leaves| Half::new(&mut tree, leaves));
        let [left, right] = [left, right].map(|half| half.root(&mut tree));
        let n_nodes = tree.len();
        let (mut leaf_of, mut parent_of) = (vec![NONE; n_words], vec![n_nodes as u32; n_nodes]);
        for (n, sources) in tree.iter_mut().enumerate() {
            for source in sources.iter_mut().filter(|source| **source != NONE) {
                if n < n_leaves {
                    let before = std::mem::replace(&mut leaf_of[*source as usize], n as u32);
                    assert_eq!(before, NONE, "a word hangs in one leaf");
                } else {
                    assert!((*source as usize) < n, "children come before parents");
                    let before = std::mem::replace(&mut parent_of[*source as usize], n as u32);
                    assert_eq!(before, n_nodes as u32, "a node hangs in one other");
                }
            }
            if n >= n_leaves {
                sources.iter_mut().filter(|source| **source == NONE).for_each(|source| *source = n_nodes as u32);
            }
        }
        assert!(leaf_of.iter().all(|leaf| *leaf != NONE), "every word hangs in a leaf");
        assert!(n_nodes - left.min(right) == 2, "the roots come last");
        let leaves = tree[..n_leaves].iter().map(Leaf::new).collect();
        Plan { n_words, padded, n_leaves, n_nodes, sources: tree, leaves, leaf_of, parent_of, left, right }
    }
}

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
        let plan = Plan::new(8, &[]);
        assert_eq!((plan.n_words, plan.n_leaves, plan.n_nodes), (32, 4, 6));
        assert_eq!(plan.sources[1], [8, 9, 10, 11, 12, 13, 14, 15]);
        assert!(plan.leaves[1].paired && plan.leaves[1].pairs == [4, 5, 6, 7] && plan.leaves[1].masks == [u64::MAX; 4]);
        assert_eq!(plan.sources[4..], [[0, 1, 6, 6, 6, 6, 6, 6], [2, 3, 6, 6, 6, 6, 6, 6]]);
        assert_eq!((plan.left, plan.right), (4, 5));
        assert_eq!((plan.leaf_of[9], plan.parent_of[1], plan.parent_of[4]), (1, 4, 6));
        let none = Plan::new(0, &[]);
        assert_eq!((none.n_leaves, none.n_nodes, none.sources[1]), (2, 2, [NO_WORD; WIDTH]));
    }

    #[test]
    fn an_order_moves_words_and_a_wrong_one_does_not() {
        let words = |class, order: &[u32]| -> Vec<u32> {
            let plan = Plan::new(class, order);
            plan.sources[..plan.n_leaves].as_flattened().iter().copied().filter(|w| *w != NO_WORD).collect()
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
        (0..N_CLASSES - 6).for_each(|class| drop(Plan::new(class, &[])));
    }
}
