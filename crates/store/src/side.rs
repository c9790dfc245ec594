//! What a search remembers beside a state: one bit, or the state it was reached from.

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

/// For each state the one it was first reached from: a tree whose root is its own parent.
#[derive(Clone, Debug, Default)]
pub struct Links {
    parents: Vec<u32>,
}

impl Links {
    /// Links are made in the order of the states.
    pub fn push(&mut self, id: StateId, parent: StateId) {
        assert_eq!(id.index(), self.parents.len(), "a state is linked when it is new, in order");
        assert!(parent <= id, "a parent is older than its child");
        self.parents.push(parent.0);
    }

    /// From the root to `id`, both included.
    pub fn path_to(&self, id: StateId) -> Vec<StateId> {
        let mut path = vec![id];
        let mut at = id;
        while self.parents[at.index()] != at.0 {
            at = StateId(self.parents[at.index()]);
            path.push(at);
        }
        path.reverse();
        path
    }

    pub fn len(&self) -> usize {
        self.parents.len()
    }

    pub fn is_empty(&self) -> bool {
        self.parents.is_empty()
    }

    pub fn bytes(&self) -> u64 {
        self.parents.capacity() as u64 * 4
    }
}

#[cfg(test)]
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

    #[test]
    fn links_lead_back_to_the_root() {
        let mut l = Links::default();
        for (id, parent) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 3)] {
            l.push(StateId(id), StateId(parent));
        }
        assert_eq!(l.path_to(StateId(4)), [0, 1, 3, 4].map(StateId));
        assert_eq!(l.path_to(StateId(0)), [StateId(0)]);
    }
}
