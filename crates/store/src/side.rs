//! What a search remembers beside a state of a store that numbers its states densely: one bit.

use crate::StateId;

/// A set of states, one bit each. States never asked about are not in it.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    words: Vec<u64>,
}

impl Marks {
    pub fn has(&self, id: StateId) -> bool {
        self.words.get(id.index() / 64).is_some_and(|w| w >> (id.index() % 64) & 1 == 1)
    }

    /// Says whether it was not in the set before.
    pub fn put(&mut self, id: StateId) -> bool {
        let word = id.index() / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let bit = 1 << (id.index() % 64);
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    pub fn remove(&mut self, id: StateId) {
        if let Some(w) = self.words.get_mut(id.index() / 64) {
            *w &= !(1 << (id.index() % 64));
        }
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    pub fn bytes(&self) -> u64 {
        self.words.capacity() as u64 * 8
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_there_from_put_to_remove() {
        let mut m = Marks::default();
        assert!(!m.has(StateId(1000)));
        assert!(m.put(StateId(1000)));
        assert!(!m.put(StateId(1000)));
        assert!(m.has(StateId(1000)) && !m.has(StateId(1001)) && !m.has(StateId(936)));
        assert_eq!(m.len(), 1);
        m.remove(StateId(1000));
        m.remove(StateId(5000));
        assert!(m.is_empty());
    }
}
