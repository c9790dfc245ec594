//! Formulas of linear temporal logic over numbered propositions.
//!
//! What a proposition says is known only to whoever numbered it; this crate knows formulas, and later their
//! automata, but no text and no states.

mod formula;

pub use formula::{Formula, PropId};
