//! From a formula to the smallest automaton that we know how to make.

use crate::automaton::Automaton;
use crate::degeneralise::state_based_within;
use crate::effort::{Effort, Limits, TooLarge};
use crate::formula::Formula;
use crate::reduce::{reduce_state_based_within, reduce_within};
use crate::translate::{is_of, translate_within};
use crate::weak::weak_deterministic;

/// The automaton of a formula, reduced; marks are on transitions and may be several. Of an obligation it is
/// deterministic if that costs no state.
pub fn automaton(formula: &Formula, limits: Limits) -> Result<Automaton, TooLarge> {
    let mut effort = Effort::new(&limits);
    let general = general(formula, limits, &mut effort)?;
    let made = match of_obligation(formula, &general, &mut effort) {
        Some(weak) if weak.n_states() <= general.n_states() => reduce_within(&weak, &mut effort),
        _ => general,
    };
    debug_assert!(is_of(&made, formula), "the automaton accepts what satisfies the formula");
    Ok(made)
}

/// The same, state-based: a Büchi automaton, for never claims and for searches that know accepting states only.
pub fn buchi_automaton(formula: &Formula, limits: Limits) -> Result<Automaton, TooLarge> {
    let mut effort = Effort::new(&limits);
    let general = general(formula, limits, &mut effort)?;
    let states = state_based_within(&general, &mut effort);
    let made = match of_obligation(formula, &general, &mut effort) {
        Some(weak) if weak.n_states() <= states.n_states() => weak,
        _ => states,
    };
    debug_assert!(made.is_state_based(), "marks are at states");
    debug_assert!(is_of(&made, formula), "the automaton accepts what satisfies the formula");
    Ok(made)
}

fn general(formula: &Formula, limits: Limits, effort: &mut Effort) -> Result<Automaton, TooLarge> {
    let translated = translate_within(formula, limits, effort)?;
    Ok(reduce_within(&translated, effort))
}

/// What is worth trying for determinism.
const MOST_STATES: usize = 1_000;
const MOST_TRANSITIONS: usize = 2_000;
const MOST_STEPS: u64 = 2_000_000;

fn of_obligation(formula: &Formula, automaton: &Automaton, effort: &mut Effort) -> Option<Automaton> {
    let limits = Limits { states: MOST_STATES, transitions: MOST_TRANSITIONS, ..Limits::default() };
    let effort = &mut effort.at_most(MOST_STEPS);
    let no = translate_within(&Formula::Not(Box::new(formula.clone())), limits, effort).ok()?;
    let weak = weak_deterministic(automaton, &reduce_within(&no, effort))?;
    Some(reduce_state_based_within(&weak, effort))
}
