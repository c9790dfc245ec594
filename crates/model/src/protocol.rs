//! What a system of communicating machines does not say about itself.

use crate::ir::{ProctypeId, VarId};

/// A queue from one machine to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    pub name: String,
    /// The global variable that holds it.
    pub var: VarId,
    pub from: ProctypeId,
    pub to: ProctypeId,
}
