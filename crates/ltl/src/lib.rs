//! Formulas of linear temporal logic over numbered propositions, and their automata.
//!
//! What a proposition says is known only to whoever numbered it; this crate knows formulas and automata, but no text of
//! models and no states of systems.

mod automaton;
mod degeneralise;
mod formula;
mod graph;
mod guards;
mod hash;
mod joins;
mod lasso;
mod pool;
mod product;
mod reduce;
mod rules;
mod simulation;
mod translate;

pub use automaton::{Automaton, Marks, StateId, Transition};
pub use degeneralise::{degeneralise, state_based};
pub use formula::{Formula, PropId};
pub use guards::{Cube, Guard, Guards};
pub use lasso::{LassoValues, Valuation, eval_lasso};
pub use product::{accepts_lasso, is_empty, product};
pub use reduce::{reduce, reduce_state_based};
pub use rules::simplify;
pub use translate::{Limits, TooLarge, translate};
