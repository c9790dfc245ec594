//! Formulas of linear temporal logic over numbered propositions, and their automata.
//!
//! What a proposition says is known only to whoever numbered it; this crate knows formulas and automata, but no text of
//! models and no states of systems.

mod automaton;
mod build;
mod classify;
mod degeneralise;
mod formula;
mod graph;
mod guards;
mod hash;
mod hoa;
mod hoa_tokens;
mod joins;
mod lasso;
mod pool;
mod product;
mod reduce;
mod rules;
mod simulation;
mod stutter;
mod translate;
mod weak;
mod write;

pub use automaton::{Automaton, Marks, StateId, Transition};
pub use build::{automaton, buchi_automaton};
pub use classify::{Class, classify};
pub use degeneralise::{degeneralise, state_based};
pub use formula::{Formula, PropId};
pub use guards::{Cube, Guard, Guards};
pub use hoa::{Hoa, HoaError, from_hoa};
pub use lasso::{LassoValues, Valuation, eval_lasso};
pub use product::{accepts_lasso, is_empty, product};
pub use reduce::{reduce, reduce_state_based};
pub use rules::simplify;
pub use stutter::is_stutter_invariant;
pub use translate::{Limits, TooLarge, translate};
pub use weak::weak_deterministic;
pub use write::{to_dot, to_hoa, to_never};
