//! What a search counts, in SPIN's units. Deterministic, so tests compare it to the digit.

use spinor_model::index::Idx;
use spinor_model::ir::{EdgeId, ProctypeId};

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
    pub fn matched(&self) -> u64 {
        assert!(self.transitions >= self.stored, "a state is stored when a transition leads to it");
        self.transitions - self.stored
    }
}

/// A set of edges over all proctypes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EdgeSet {
    rows: Vec<Vec<bool>>,
}

impl EdgeSet {
    pub fn put(&mut self, proctype: ProctypeId, edge: EdgeId) {
        let (p, e) = (proctype.index(), edge.index());
        if p >= self.rows.len() {
            self.rows.resize(p + 1, Vec::new());
        }
        let row = &mut self.rows[p];
        if e >= row.len() {
            row.resize(e + 1, false);
        }
        row[e] = true;
    }

    pub fn has(&self, proctype: ProctypeId, edge: EdgeId) -> bool {
        self.rows.get(proctype.index()).and_then(|row| row.get(edge.index())).copied().unwrap_or(false)
    }

    /// In order of proctype and edge.
    pub fn iter(&self) -> impl Iterator<Item = (ProctypeId, EdgeId)> + '_ {
        self.rows.iter().enumerate().flat_map(|(p, row)| {
            row.iter().enumerate().filter(|(_, set)| **set).map(move |(e, _)| (ProctypeId::new(p), EdgeId::new(e)))
        })
    }
}
