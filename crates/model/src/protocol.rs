//! What a system of communicating machines does not say about itself.

use crate::ir::{ProctypeId, VarId};

/// A system whose processes are machines, with what is asked about its channels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Protocol {
    /// In the order of the text. Channel `n` lies in the global variable `n`.
    pub channels: Vec<Channel>,
    /// Channels on which a reception that is not specified is an error (J), by their place.
    pub receptions: Vec<usize>,
    /// A message that its receiver does not take where it stands is an error even if that can do something else first.
    pub strict: bool,
    /// Channels on which a send that finds no room is an error (K).
    pub overflows: Vec<usize>,
}

/// A queue from one machine to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Channel {
    pub name: String,
    /// The global variable that holds it.
    pub var: VarId,
    pub from: ProctypeId,
    pub to: ProctypeId,
}
