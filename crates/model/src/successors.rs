//! The narrow waist: every front end above, every search below.
//!
//! A search asks in two phases. `enabled` says which steps can be taken, grouped by process, always in the same
//! order for the same state: a reduction chooses among them before anything is fired, and both passes of a nested
//! search and every replayed trace rely on the order. `fire` then does a selection of them and lays the
//! successors, packed, into one [`Batch`] that goes to the store whole.
//!
//! A step is the choice to move. An `atomic` may branch after its first statement, so one step can have several
//! *outcomes*, one per path to the point where others may run again; a `d_step` or a handshake has one.

use crate::fault::Fault;
use crate::ir::{EdgeId, Pid, ProctypeId};

/// A process takes an edge, alone or in a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Step {
    pub pid: Pid,
    pub edge: EdgeId,
    /// The receiver's half of a rendez-vous.
    pub partner: Option<(Pid, EdgeId)>,
    /// The step exists because nothing else could run.
    pub timeout: bool,
}

/// What one path of one step led to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Which of the fired steps, and which of its paths.
    pub step: u32,
    pub path: u32,
    /// The successor's key; `None` if a fatal fault ended the path.
    pub key: Option<std::ops::Range<usize>>,
    /// What went wrong on the way, in order. A failed assertion is not fatal.
    pub faults: Vec<Fault>,
    /// Statements after which the process kept the floor: SPIN's "atomic steps".
    pub atomic_steps: u32,
}

/// The successors of one state, packed, and what was seen while they were made.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub keys: Vec<u8>,
    pub outcomes: Vec<Outcome>,
    /// Edges taken, with repetitions.
    pub reached: Vec<(ProctypeId, EdgeId)>,
    /// Edges at which a value did not fit its variable and lost bits, with repetitions.
    pub truncated: Vec<(ProctypeId, EdgeId)>,
}

impl Batch {
    pub fn clear(&mut self) {
        self.keys.clear();
        self.outcomes.clear();
        self.reached.clear();
        self.truncated.clear();
    }

    pub fn key(&self, outcome: &Outcome) -> Option<&[u8]> {
        outcome.key.clone().map(|range| &self.keys[range])
    }
}

pub trait Successors {
    /// A state unpacked for work. Two states are the same iff their keys are.
    type State: Clone;

    /// Fails if an initialiser does.
    fn initial(&self) -> Result<Self::State, Fault>;
    /// Appends the key.
    fn pack(&self, state: &Self::State, key: &mut Vec<u8>);
    fn unpack(&self, key: &[u8]) -> Self::State;
    /// The steps that can be taken: highest pid first, edges in the order of their location. Cleared first.
    fn enabled(&self, state: &Self::State, steps: &mut Vec<Step>);
    /// Appends the outcomes of these steps, in order.
    fn fire(&self, state: &Self::State, steps: &[Step], batch: &mut Batch);
    /// With no step enabled: may the run end here?
    fn may_end(&self, state: &Self::State) -> bool;
}
