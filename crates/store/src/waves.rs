//! Looking up the changed nodes of many keys at once, level by level.
//!
//! # The argument
//!   A lookup needs the numbers of its node's children, so those come first; but the lookups of one level need
//!   nothing of each other. So they are done in waves, one a level: first all contents are completed and the
//!   index slots fetched, then the likely entries, then the nodes are looked up. By then each finds near what it
//!   needs, instead of waiting twice for far memory; and one after the other that is what would take the time.
//!
//! # Invariants
//!   I1 a lookup refers to lookups of lower levels only
//!   I2 looking up again changes nothing: after growth the waves start anew

use crate::nodes::{Content, NoRoom, Nodes};
use crate::plan::MAX_HEIGHT;

/// See the module.
#[derive(Debug, Default)]
pub struct Waves {
    levels: [Vec<Lookup>; MAX_HEIGHT],
    /// One a lookup: the node's number.
    answers: Vec<u32>,
}

#[derive(Debug)]
struct Lookup {
    content: Content,
    /// Whose answer it is.
    id: u32,
    /// Which of the four words are lookups rather than numbers.
    pending: u8,
}

impl Waves {
    #[inline(always)]
    pub fn put_leaf(&mut self, content: Content) -> u32 {
        self.put(0, content, 0)
    }

    #[inline(always)]
    pub fn put(&mut self, height: usize, content: Content, pending: u8) -> u32 {
        let id = self.answers.len() as u32;
        self.answers.push(0);
        self.levels[height].push(Lookup { content, id, pending });
        id
    }

    /// Starts fetching for the leaves from lookup `id` on.
    #[inline]
    pub fn prefetch(&self, nodes: &Nodes, n_leaves_before: usize) {
        self.levels[0][n_leaves_before..].iter().for_each(|lookup| nodes.prefetch(lookup.content));
    }

    pub fn n_leaves(&self) -> usize {
        self.levels[0].len()
    }

    #[inline]
    pub fn answer(&self, id: u32) -> u32 {
        self.answers[id as usize]
    }

    pub fn look_up(&mut self, nodes: &Nodes) -> Result<(), NoRoom> {
        let Waves { levels, answers } = self;
        for (height, level) in levels.iter_mut().enumerate() {
            if height > 0 {
                level.iter_mut().for_each(|lookup| lookup.complete(answers));
            }
            if nodes.is_large() {
                if height > 0 {
                    level.iter().for_each(|lookup| nodes.prefetch(lookup.content));
                }
                level.iter().for_each(|lookup| nodes.near(lookup.content));
            }
            for lookup in level {
                answers[lookup.id as usize] = nodes.intern(lookup.content)?;
            }
        }
        Ok(())
    }

    pub fn clear(&mut self) {
        self.levels.iter_mut().for_each(Vec::clear);
        self.answers.clear();
    }
}

impl Lookup {
    #[inline]
    fn complete(&mut self, answers: &[u32]) {
        while self.pending != 0 {
            let i = self.pending.trailing_zeros();
            self.pending &= self.pending - 1;
            let (word, shift) = (&mut self.content[i as usize / 2], 32 * (i % 2));
            let id = (*word >> shift) as u32;
            *word ^= u64::from(id ^ answers[id as usize]) << shift;
        }
    }
}
