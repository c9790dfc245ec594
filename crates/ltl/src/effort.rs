//! How large an automaton may become, and how much work it may take.
//!
//! # The argument
//!   Some formulas have no small automaton, and nobody can tell which before the work is done. So work is counted: a
//!   step is a look into a table of guards or a comparison of two transitions, some tens of nanoseconds. Counts are the
//!   same on every machine, and with them the answer; only `until`, which whoever has a deadline gives, looks at a
//!   clock.
//!   What makes an automaton fails when the steps are used up; what makes one smaller stops there, and what it has is
//!   right.

use crate::guards::Guards;
use std::fmt;
use std::time::Instant;

/// When a construction gives up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub states: usize,
    pub transitions: usize,
    /// See the module.
    pub steps: u64,
    pub bytes: usize,
    pub until: Option<Instant>,
}

impl Default for Limits {
    /// A second or two.
    fn default() -> Limits {
        Limits { states: 20_000, transitions: 200_000, steps: 20_000_000, bytes: 256 << 20, until: None }
    }
}

/// The automaton would be larger than the limits, or take longer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TooLarge {
    pub states: usize,
    pub transitions: usize,
    /// Temporal operators of the formula, written in full; zero if it was no formula.
    pub operators: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let given_up = format!("given up at {} states and {} transitions", self.states, self.transitions);
        match self.operators {
            0 => write!(f, "the automaton is too large: {given_up}"),
            n => write!(
                f,
                "the automaton of the formula is too large: it has {n} temporal operators, and the translation was \
                 {given_up}; check the parts of the property one by one"
            ),
        }
    }
}

impl std::error::Error for TooLarge {}

/// The steps that are left.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    left: u64,
    until: Option<Instant>,
    since_look: u64,
}

/// Steps between looks at the clock.
const LOOK: u64 = 1 << 16;

impl Effort {
    pub fn new(limits: &Limits) -> Effort {
        Effort { left: limits.steps, until: limits.until, since_look: 0 }
    }

    /// For reductions that nobody set a limit for.
    pub fn usual() -> Effort {
        Effort::new(&Limits::default())
    }

    /// Pays for what was done with the guards and for `steps` more. Is anything left?
    pub fn goes_on(&mut self, guards: &mut Guards, steps: u64) -> bool {
        let steps = steps + guards.take_steps();
        self.left = self.left.saturating_sub(steps);
        self.since_look += steps;
        if self.since_look >= LOOK {
            self.since_look = 0;
            if self.until.is_some_and(|t| Instant::now() >= t) {
                self.left = 0;
            }
        }
        self.left > 0
    }

    /// For something that may fail without harm.
    pub fn at_most(&self, steps: u64) -> Effort {
        Effort { left: self.left.min(steps), ..*self }
    }
}
