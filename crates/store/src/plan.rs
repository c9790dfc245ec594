//! How the words of a key hang in a tree.
//!
//! # The argument
//!   A key is a sequence of 32-bit words. Four words that lie together are a *quad*, the content of a leaf node;
//!   an inner node's content is the numbers of up to four nodes. The quads are split into two halves, each with
//!   a root, and a half is split into four nearly equal parts until a part is one quad. So a change of one word
//!   changes one node on every level, about half the logarithm to base 2 of the number of words.
//!
//!   Keys of a class have the same tree. A key of 4q words, q ≤ 16, has class q and nothing else does; any other
//!   key is padded with zeros, and its length in bytes is its last word. So a name, which says the class, says the
//!   length, and different keys have different names.
//!
//!   Which words lie together decides how many nodes there are; that is the caller's knowledge, given as an order
//!   of the words.
//!
//! # Numbering
//!   A plan numbers its nodes: first the leaves, in the order of the quads, then the inner nodes, children before
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

/// See the module.
#[derive(Debug)]
pub struct Plan {
    pub n_words: usize,
    /// Whether the last word is the key's length.
    pub padded: bool,
    pub n_leaves: usize,
    pub n_nodes: usize,
    /// For each leaf its four words, for each other node its four children; `n_nodes` where there is none.
    pub sources: Vec<[u32; 4]>,
    /// For each word its leaf.
    pub leaf_of: Vec<u32>,
    /// For each node the one above it; `n_nodes` for the two roots.
    pub parent_of: Vec<u32>,
    /// For each node how many levels are below it; less than `MAX_HEIGHT`.
    pub height_of: Vec<u8>,
    pub left: usize,
    pub right: usize,
}

impl Plan {
    /// `order[j]` is the word that comes `j`-th; where it is no permutation of the first so many words, and for
    /// words that it does not mention, the words keep their order.
    pub fn new(class: usize, order: &[u32]) -> Plan {
        let (n_leaves, padded) = (n_quads(class), class > EXACT);
        let n_words = n_leaves * 4;
        let words = complete(order, n_words, n_words - usize::from(padded));
        let mut tree: Vec<[u32; 4]> = words.as_chunks().0.to_vec();
        let half = n_leaves.div_ceil(2);
        // What is below both roots comes before them.
        let [left, right] = [0..half, half..n_leaves].map(|quads| Half::new(&mut tree, quads));
        let [left, right] = [left, right].map(|half| half.root(&mut tree));
        let n_nodes = tree.len();
        let (mut leaf_of, mut parent_of) = (vec![NONE; n_words], vec![n_nodes as u32; n_nodes]);
        for (n, sources) in tree.iter_mut().enumerate() {
            for source in sources {
                if n < n_leaves {
                    let before = std::mem::replace(&mut leaf_of[*source as usize], n as u32);
                    assert_eq!(before, NONE, "a word hangs in one leaf");
                } else if *source == NONE {
                    *source = n_nodes as u32;
                } else {
                    assert!((*source as usize) < n, "children come before parents");
                    let before = std::mem::replace(&mut parent_of[*source as usize], n as u32);
                    assert_eq!(before, n_nodes as u32, "a node hangs in one other");
                }
            }
        }
        let mut height_of = vec![0; n_nodes];
        for n in 0..n_nodes {
            if let Some(height) = height_of.get(parent_of[n] as usize) {
                height_of[parent_of[n] as usize] = (height_of[n] + 1).max(*height);
            }
        }
        assert!(height_of.iter().all(|&height| usize::from(height) < MAX_HEIGHT));
        assert!(n_nodes - left.min(right) == 2, "the roots come last");
        Plan { n_words, padded, n_leaves, n_nodes, sources: tree, leaf_of, parent_of, height_of, left, right }
    }
}

pub const MAX_HEIGHT: usize = 16;
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
    Inner([u32; 4]),
}

impl Half {
    fn new(tree: &mut Vec<[u32; 4]>, quads: Range<usize>) -> Half {
        if quads.len() == 1 {
            return Half::Leaf(quads.start);
        }
        let mut from = quads.start;
        Half::Inner(std::array::from_fn(|i| {
            let part = from..from + (quads.end - from).div_ceil(4 - i);
            from = part.end;
            if part.is_empty() { NONE } else { Half::new(tree, part).root(tree) as u32 }
        }))
    }

    fn root(self, tree: &mut Vec<[u32; 4]>) -> usize {
        match self {
            Half::Leaf(quad) => quad,
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
    fn eight_quads_hang_in_two_halves_of_four() {
        let plan = Plan::new(8, &[]);
        assert_eq!((plan.n_words, plan.n_leaves, plan.n_nodes), (32, 8, 10));
        assert_eq!(plan.sources[1], [4, 5, 6, 7]);
        assert_eq!(plan.sources[8..], [[0, 1, 2, 3], [4, 5, 6, 7]]);
        assert_eq!((plan.left, plan.right), (8, 9));
        assert_eq!((plan.leaf_of[5], plan.parent_of[1], plan.parent_of[8]), (1, 8, 10));
        assert_eq!(Plan::new(0, &[]).sources, [[2; 4]; 2]);
    }

    #[test]
    fn an_order_moves_words_and_a_wrong_one_does_not() {
        assert_eq!(Plan::new(1, &[3, 1, 0, 2]).sources[0], [3, 1, 0, 2]);
        assert_eq!(Plan::new(1, &[3, 1, 3, 2]).sources[0], [0, 1, 2, 3]);
        assert_eq!(Plan::new(1, &[3, 1, 4, 2]).sources[0], [0, 1, 2, 3]);
        assert_eq!(Plan::new(1, &[0; 5]).sources[0], [0, 1, 2, 3]);
        let padded = class_of(11).expect("not too long");
        assert_eq!(Plan::new(padded, &[2, 1, 0]).sources[0], [2, 1, 0, 3]);
        assert_eq!(Plan::new(padded, &[3, 2, 1, 0]).sources[0], [0, 1, 2, 3], "the length stays last");
    }

    #[test]
    fn every_class_has_a_tree() {
        (0..N_CLASSES - 6).for_each(|class| drop(Plan::new(class, &[])));
    }
}
