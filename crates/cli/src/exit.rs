//! What the exit status means. Scripts rely on it, so it is decided here and nowhere else.

use crate::args::Expect;
use spinor_check::verdict::Verdict;

/// Worse ones are larger in [`Exit::worst`]'s order, which is not the order of the codes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Every selected property holds and the search was complete; or the answer is the expected one.
    Fine,
    /// At least one property is violated.
    Violated,
    /// A bad command line, an unreadable file, or errors in the model.
    Unusable,
    /// Nothing is violated so far, and something stayed open.
    Inconclusive,
    /// Our bug.
    Internal,
}

impl Exit {
    pub const ALL: [Exit; 5] = [Exit::Fine, Exit::Violated, Exit::Unusable, Exit::Inconclusive, Exit::Internal];

    pub fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Violated => 1,
            Exit::Unusable => 2,
            Exit::Inconclusive => 3,
            Exit::Internal => 4,
        }
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Exit::Fine => "every selected property holds (or the answer is the one given by --expect)",
            Exit::Violated => "at least one property is violated",
            Exit::Unusable => "bad command line, unreadable file, or errors in the model",
            Exit::Inconclusive => "nothing violated so far, but a limit was met or a property cannot be checked yet",
            Exit::Internal => "a fault of spinor itself",
        }
    }

    /// Of several models the worst answer counts: our bug, unusable, violated, open, fine.
    pub fn worst(self, other: Exit) -> Exit {
        let rank = |e: Exit| match e {
            Exit::Fine => 0,
            Exit::Inconclusive => 1,
            Exit::Violated => 2,
            Exit::Unusable => 3,
            Exit::Internal => 4,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// The one mapping from verdicts to a status.
pub fn of_verdicts<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>, expect: Option<Expect>) -> Exit {
    let mut exit = Exit::Fine;
    for verdict in verdicts {
        exit = exit.worst(match verdict {
            Verdict::Holds => Exit::Fine,
            Verdict::Violated { .. } => Exit::Violated,
            Verdict::NothingFound { .. } => Exit::Inconclusive,
        });
    }
    match (expect, exit) {
        (Some(Expect::Fail), Exit::Violated) => Exit::Fine,
        (Some(Expect::Fail), Exit::Fine) => Exit::Violated,
        (Some(Expect::Fail), Exit::Unusable | Exit::Inconclusive | Exit::Internal) => exit,
        (Some(Expect::Pass) | None, _) => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Verdict {
        Verdict::NothingFound { because: "a limit".to_string() }
    }

    fn bad() -> Verdict {
        Verdict::Violated { what: "assert(false)".to_string() }
    }

    #[test]
    fn a_violation_outweighs_an_open_question_and_an_open_question_is_never_fine() {
        assert_eq!(of_verdicts(&[Verdict::Holds, Verdict::Holds], None), Exit::Fine);
        assert_eq!(of_verdicts(&[Verdict::Holds, open()], None), Exit::Inconclusive);
        assert_eq!(of_verdicts(&[open(), bad(), Verdict::Holds], None), Exit::Violated);
        assert_eq!(of_verdicts(&[], None), Exit::Fine);
    }

    #[test]
    fn an_expected_violation_is_fine_and_a_missing_one_is_not() {
        assert_eq!(of_verdicts(&[bad()], Some(Expect::Fail)), Exit::Fine);
        assert_eq!(of_verdicts(&[Verdict::Holds], Some(Expect::Fail)), Exit::Violated);
        assert_eq!(of_verdicts(&[open()], Some(Expect::Fail)), Exit::Inconclusive);
        assert_eq!(of_verdicts(&[bad()], Some(Expect::Pass)), Exit::Violated);
    }

    #[test]
    fn the_codes_are_the_documented_ones() {
        assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3, 4]);
    }
}
