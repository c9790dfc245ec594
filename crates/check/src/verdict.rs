//! The three answers, and what they are answers to.
//!
//! `Holds` is said only by a complete search of an exact store, and of progress where the text shows that there is always
//! some (`progress/loops.rs`). Whatever is weaker (a limit met, an interrupt, a
//! property we cannot check) is `NothingFound`, and no door may print it as `Holds`.

use spinor_model::fault::FaultKind;
use std::fmt;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// With a trace in the property's report. `what` is the text of the first violation.
    Violated {
        what: String,
    },
    Holds,
    NothingFound {
        because: String,
    },
}

impl Verdict {
    /// The word of the JSON result.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Violated { .. } => "violated",
            Verdict::Holds => "holds",
            Verdict::NothingFound { .. } => "inconclusive",
        }
    }

    /// What was violated, or why nothing is certain.
    pub fn because(&self) -> Option<&str> {
        match self {
            Verdict::Violated { what } => Some(what),
            Verdict::Holds => None,
            Verdict::NothingFound { because } => Some(because),
        }
    }

    pub fn is_violated(&self) -> bool {
        matches!(self, Verdict::Violated { .. })
    }
}

macro_rules! kinds {
    ($($(#[$meta:meta])* $kind:ident $word:literal)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
        pub enum Kind { $($(#[$meta])* $kind),* }

        impl Kind {
            pub const ALL: [Kind; [$($word),*].len()] = [$(Kind::$kind),*];

            /// The word of the JSON result.
            pub fn word(self) -> &'static str {
                match self { $(Kind::$kind => $word),* }
            }
        }
    };
}

kinds! {
    Assertion "assertion"
    EndState "end-state"
    RuntimeError "runtime-error"
    Trace "trace"
    Promise "promise"
    Acceptance "acceptance"
    NonProgress "non-progress"
    Claim "claim"
    Ltl "ltl"
    /// The last three are asked of protocols (`protocol.rs`).
    Reception "reception"
    Overflow "overflow"
    NonExecutable "nonexecutable"
}

/// What finite runs show: the kinds that one search answers.
pub const SAFETY: [Kind; 8] = [
    Kind::Assertion,
    Kind::EndState,
    Kind::RuntimeError,
    Kind::Trace,
    Kind::Promise,
    Kind::Reception,
    Kind::Overflow,
    Kind::NonExecutable,
];

impl Kind {
    /// What a fault violates.
    pub fn of(fault: &FaultKind) -> Kind {
        match fault {
            FaultKind::Assertion => Kind::Assertion,
            FaultKind::TraceMismatch | FaultKind::NotraceMatched | FaultKind::TraceNondeterminism => Kind::Trace,
            FaultKind::Promise { .. } => Kind::Promise,
            _ => Kind::RuntimeError,
        }
    }

    /// It speaks of runs that never end.
    pub fn is_endless(self) -> bool {
        match self {
            Kind::Acceptance | Kind::NonProgress | Kind::Claim | Kind::Ltl => true,
            Kind::Assertion | Kind::EndState | Kind::RuntimeError | Kind::Trace | Kind::Promise => false,
            Kind::Reception | Kind::Overflow | Kind::NonExecutable => false,
        }
    }

    /// What states of a protocol show: what is wrong at one of its channels.
    pub fn is_flaw(self) -> bool {
        match self {
            Kind::Reception | Kind::Overflow => true,
            Kind::NonExecutable | Kind::EndState => false,
            Kind::Assertion | Kind::RuntimeError | Kind::Trace | Kind::Promise => false,
            Kind::Acceptance | Kind::NonProgress | Kind::Claim | Kind::Ltl => false,
        }
    }

    pub fn flaws() -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|kind| kind.is_flaw())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_is_of_finite_runs_or_of_endless_ones() {
        assert!(Kind::ALL.iter().all(|kind| SAFETY.contains(kind) != kind.is_endless()));
    }
}
