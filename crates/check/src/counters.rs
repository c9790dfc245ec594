//! What a search counts, in SPIN's units. Deterministic, so tests compare it to the digit.

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Distinct states, the initial one included.
    pub stored: u64,
    /// One for the initial state, and one per outcome that led to a state, known or new.
    pub transitions: u64,
    /// Statements after which a process kept the floor.
    pub atomic_steps: u64,
    /// Steps on the longest path; breadth-first, the deepest level.
    pub depth: u64,
}

impl Counters {
    /// A state is stored when a transition leads to it, but threads that stop midway have not counted all of these.
    pub fn matched(&self) -> u64 {
        self.transitions.saturating_sub(self.stored)
    }

    /// What another thread counted in the same search.
    pub fn add(&mut self, other: &Counters) {
        self.stored += other.stored;
        self.transitions += other.transitions;
        self.atomic_steps += other.atomic_steps;
        self.depth = self.depth.max(other.depth);
    }
}
