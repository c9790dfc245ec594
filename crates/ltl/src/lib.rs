//! Formulas of linear temporal logic over numbered propositions, and their automata.
//!
//! What a proposition says is known only to whoever numbered it; this crate knows formulas and automata, but no text of
//! models and no states of systems.
//!
//! ```text
//! Formula ──simplify──▶ Formula ──translate──▶ Automaton ──reduce──▶ Automaton ──degeneralise, state_based──▶ Automaton
//!         └──────────────────────────────── automaton, buchi_automaton ───────────────────────────────────────▶
//! ```
//!
//! # For a search
//!   A property is violated by a run of the system that the automaton of its negation accepts. [`automaton`] makes it:
//!
//! ```
//! use spinor_ltl::*;
//! // Always, p is followed by q: a violation is a run on which some p is never followed by q.
//! let (p, q) = (Box::new(Formula::Prop(PropId(0))), Box::new(Formula::Prop(PropId(1))));
//! let response = Formula::Always(Box::new(Formula::Implies(p, Box::new(Formula::Eventually(q)))));
//! let a = automaton(&Formula::Not(Box::new(response)), Limits::default()).unwrap();
//!
//! let class = classify(&a);
//! assert!(class.weak && !class.terminal);
//! // In a state of the system, the automaton asks for `a.props`, in this order, a bit each.
//! let truth = |prop: PropId| prop == PropId(0);
//! let mut bits = vec![0; a.props.len().div_ceil(64)];
//! for (c, &prop) in a.props.iter().enumerate() {
//!     bits[c / 64] |= (truth(prop) as u64) << (c % 64);
//! }
//! // A step of the product: a transition of the automaton that the state allows, and a step of the system.
//! for &state in &a.initial {
//!     for t in a.enabled(state, &bits) {
//!         // A component of the product is a violation if the marks of its transitions are together `a.all_marks()`.
//!         assert!(t.marks.within(a.all_marks()));
//!     }
//! }
//! ```
//!
//!   - `Class::empty`: nothing to search for, the property holds. `Class::terminal`: a violation is a reachable state
//!     of an accepting component, which need not be left. `Class::weak`: marks are on all transitions of a
//!     component or on none, so any cycle there will do, and one depth-first search is enough.
//!   - A mark is on a transition, not on a state. [`buchi_automaton`] has marks on all transitions of a state or on
//!     none: then [`Automaton::is_accepting`] says it of the state, as nested depth-first searches want it.
//!   - [`is_stutter_invariant`] says whether reductions that need it may be used, and [`is_automaton_stutter_invariant`]
//!     says it of a claim that is an automaton.
//!   - [`parts`] says of which looks a formula is a boolean combination: what only one of them sees may change places with
//!     what only another one sees.
//!   - [`eval_lasso`] gives the value of each part of a formula at each state of a counterexample.
//!
//! # Texts
//!   [`to_never`], [`to_hoa`], [`to_dot`] and [`from_hoa`]. A caller gives the text of a proposition.

mod automaton;
mod build;
mod classify;
mod complement;
mod degeneralise;
mod effort;
mod formula;
mod graph;
mod guards;
mod hash;
mod hoa;
mod hoa_tokens;
mod joins;
mod lasso;
mod often;
mod parts;
mod pool;
mod product;
mod reduce;
mod rules;
mod simulation;
mod stutter;
mod stutter_form;
mod translate;
mod weak;
mod write;

pub use automaton::{Automaton, Marks, StateId, Transition};
pub use build::{automaton, buchi_automaton};
pub use classify::{Class, classify};
pub use complement::complement;
pub use degeneralise::{degeneralise, state_based};
pub use effort::{Limits, TooLarge};
pub use formula::{Formula, PropId};
pub use graph::Components;
pub use guards::{Cube, Guard, Guards};
pub use hoa::{Hoa, HoaError, from_hoa};
pub use lasso::{LassoValues, Valuation, eval_lasso};
pub use parts::parts;
pub use product::{accepts_lasso, is_empty, product, union};
pub use reduce::{reduce, reduce_state_based};
pub use rules::simplify;
pub use stutter::{is_automaton_stutter_invariant, is_stutter_invariant};
pub use stutter_form::{is_stutter_form, stutter_form};
pub use translate::translate;
pub use weak::weak_deterministic;
pub use write::{to_dot, to_hoa, to_never};
