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
//! # Cells
//!   All values of one key stand in one array: its words in the key's own order, then the numbers of its nodes,
//!   children before parents, then a zero for what is not there. A plan says for each node from which four cells
//!   its content comes, and for each cell in which node it is.

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

/// No node: for the cells of the two roots, and the zero.
pub const NONE: u32 = u32::MAX;

/// See the module.
#[derive(Debug)]
pub struct Plan {
    pub n_words: usize,
    /// Whether the last word is the key's length.
    pub padded: bool,
    /// For each node its four cells.
    pub sources: Vec<[u32; 4]>,
    /// For each cell its node.
    pub parents: Vec<u32>,
    /// The cells of the two roots.
    pub left: usize,
    pub right: usize,
}

impl Plan {
    /// `order[j]` is the word that comes `j`-th; where it is no permutation of the first so many words, and for
    /// words that it does not mention, the words keep their order.
    pub fn new(class: usize, order: &[u32]) -> Plan {
        let n_words = n_quads(class) * 4;
        let padded = class > EXACT;
        let mut words: Vec<u32> = (0..n_words as u32).collect();
        let n_movable = n_words - usize::from(padded);
        if order.len() <= n_movable {
            words[..order.len()].copy_from_slice(order);
            let mut seen = vec![false; order.len()];
            let fresh = |&w: &u32| seen.get_mut(w as usize).is_some_and(|s| !std::mem::replace(s, true));
            if !order.iter().all(fresh) {
                words = (0..n_words as u32).collect();
            }
        }
        let mut plan = Plan { n_words, padded, sources: Vec::new(), parents: Vec::new(), left: 0, right: 0 };
        let n_quads = n_words / 4;
        plan.left = plan.hang(&words, 0..n_quads.div_ceil(2)) as usize;
        plan.right = plan.hang(&words, n_quads.div_ceil(2)..n_quads) as usize;
        let zero = (n_words + plan.sources.len()) as u32;
        plan.sources.as_flattened_mut().iter_mut().filter(|s| **s == NONE).for_each(|s| *s = zero);
        plan.parents = vec![NONE; zero as usize + 1];
        for (n, sources) in plan.sources.iter().enumerate() {
            for &cell in sources.iter().filter(|&&cell| cell != zero) {
                assert!((cell as usize) < n_words + n, "children come before parents");
                assert_eq!(std::mem::replace(&mut plan.parents[cell as usize], n as u32), NONE, "a tree");
            }
        }
        assert!((0..n_words).all(|word| plan.parents[word] != NONE), "every word hangs somewhere");
        plan
    }

    pub fn n_nodes(&self) -> usize {
        self.sources.len()
    }

    pub fn n_cells(&self) -> usize {
        self.parents.len()
    }

    /// A node over these quads; its cell.
    fn hang(&mut self, words: &[u32], quads: Range<usize>) -> u32 {
        let mut sources = [NONE; 4];
        if quads.len() == 1 {
            sources.copy_from_slice(&words[quads.start * 4..quads.end * 4]);
        } else {
            let mut from = quads.start;
            for (i, source) in sources.iter_mut().enumerate() {
                let to = from + (quads.end - from).div_ceil(4 - i);
                if from < to {
                    *source = self.hang(words, from..to);
                }
                from = to;
            }
        }
        self.sources.push(sources);
        (words.len() + self.sources.len() - 1) as u32
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
        assert_eq!((plan.n_words, plan.n_nodes(), plan.n_cells()), (32, 10, 43));
        assert_eq!(plan.sources[0], [0, 1, 2, 3]);
        assert_eq!(plan.sources[4], [32, 33, 34, 35]);
        assert_eq!((plan.left, plan.right), (36, 41));
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
