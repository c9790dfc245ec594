//! From a formula to the smallest automaton that we know how to make.

use crate::automaton::Automaton;
use crate::degeneralise::state_based;
use crate::formula::Formula;
use crate::reduce::{reduce, reduce_state_based};
use crate::translate::{Limits, TooLarge, translate};
use crate::weak::weak_deterministic;

/// The automaton of a formula, reduced; marks are on transitions and may be several. Of an obligation it is
/// deterministic if that costs no state.
pub fn automaton(formula: &Formula, limits: Limits) -> Result<Automaton, TooLarge> {
    let general = reduce(&translate(formula, limits)?);
    Ok(match of_obligation(formula, &general) {
        Some(weak) if weak.n_states() <= general.n_states() => reduce(&weak),
        _ => general,
    })
}

/// The same, state-based: a Büchi automaton, for never claims and for searches that know accepting states only.
pub fn buchi_automaton(formula: &Formula, limits: Limits) -> Result<Automaton, TooLarge> {
    let general = reduce(&translate(formula, limits)?);
    let states = state_based(&general);
    Ok(match of_obligation(formula, &general) {
        Some(weak) if weak.n_states() <= states.n_states() => weak,
        _ => states,
    })
}

/// What is worth trying for determinism.
const OBLIGATION: Limits = Limits { states: 1_000, transitions: 2_000 };

fn of_obligation(formula: &Formula, automaton: &Automaton) -> Option<Automaton> {
    let no = translate(&Formula::Not(Box::new(formula.clone())), OBLIGATION).ok()?;
    let weak = weak_deterministic(automaton, &reduce(&no))?;
    Some(reduce_state_based(&weak))
}
