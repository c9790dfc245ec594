//! Whether two reports about one model agree.
//!
//! Without run-time errors everything must: stored states, transitions, atomic steps, whether an assertion fails and
//! whether some end state is invalid. After a run-time error only the answer counts, because the tools stop in different places.

use crate::spin::SpinOutcome;
use crate::spinor::SpinorOutcome;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    Agree,
    /// SPIN gives nothing to compare with.
    Skipped(String),
    Differ(Vec<Difference>),
}

/// One figure or answer in which the tools differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub what: &'static str,
    pub spin: String,
    pub spinor: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: spin {}, spinor {}", self.what, self.spin, self.spinor)
    }
}

pub fn compare(spin: &SpinOutcome, spinor: &SpinorOutcome) -> Comparison {
    let only = |what, spin: String, spinor: String| Comparison::Differ(vec![Difference { what, spin, spinor }]);
    let theirs = match (spin, spinor) {
        (SpinOutcome::Rejected(_), SpinorOutcome::Rejected(_)) => return Comparison::Agree,
        (SpinOutcome::Rejected(why), _) => return Comparison::Skipped(format!("spin rejects it: {why}")),
        (SpinOutcome::Failed(why), _) => return Comparison::Skipped(format!("spin fails: {why}")),
        (SpinOutcome::TimedOut, _) => return Comparison::Skipped("spin takes too long".into()),
        (SpinOutcome::Done(report), _) => report,
    };
    let ours = match spinor {
        SpinorOutcome::Done(report) => report,
        SpinorOutcome::Rejected(why) => return only("accepted", "yes".into(), format!("no, {why}")),
        SpinorOutcome::TimedOut => return only("finished", format!("yes, {} stored", theirs.stored), "no".into()),
    };
    let mut differences = Vec::new();
    let mut check = |what, spin: String, spinor: String| {
        if spin != spinor {
            differences.push(Difference { what, spin, spinor });
        }
    };
    let faults = theirs.faults();
    if !faults.is_empty() || !ours.faults.is_empty() {
        let violated = theirs.errors > 0;
        let we = ours.assertion || ours.end_state || !ours.faults.is_empty();
        if violated != we {
            let say =
                |violated: bool, why: String| if violated { format!("violated ({why})") } else { "holds".to_string() };
            check(
                "verdict",
                say(violated, theirs.messages.iter().cloned().collect::<Vec<_>>().join("; ")),
                say(we, ours.faults.join("; ")),
            );
        }
    } else {
        check("stored", theirs.stored.to_string(), ours.stored.to_string());
        check("transitions", theirs.transitions.to_string(), ours.transitions.to_string());
        check("atomic steps", theirs.atomic_steps.to_string(), ours.atomic_steps.to_string());
        let say = |violated: bool| if violated { "violated" } else { "holds" }.to_string();
        check("assertions", say(theirs.assertion()), say(ours.assertion));
        check("end states", say(theirs.end_state()), say(ours.end_state));
    }
    check("conclusive", String::new(), ours.inconclusive.join("; "));
    if differences.is_empty() { Comparison::Agree } else { Comparison::Differ(differences) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spin::SpinReport;
    use crate::spinor::SpinorReport;

    fn theirs(messages: &[&str]) -> SpinOutcome {
        let messages = messages.iter().map(|m| m.to_string()).collect::<std::collections::BTreeSet<_>>();
        SpinOutcome::Done(SpinReport {
            stored: 5,
            matched: 2,
            transitions: 7,
            atomic_steps: 1,
            errors: messages.len() as u64,
            messages,
        })
    }

    fn ours() -> SpinorReport {
        SpinorReport { stored: 5, matched: 2, transitions: 7, atomic_steps: 1, ..SpinorReport::default() }
    }

    fn differing(spin: &SpinOutcome, ours: SpinorReport) -> Vec<&'static str> {
        match compare(spin, &SpinorOutcome::Done(ours)) {
            Comparison::Differ(list) => list.iter().map(|d| d.what).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn every_figure_and_answer_counts() {
        assert!(differing(&theirs(&[]), ours()).is_empty());
        assert_eq!(differing(&theirs(&[]), SpinorReport { stored: 6, ..ours() }), ["stored"]);
        assert_eq!(
            differing(&theirs(&[]), SpinorReport { transitions: 6, atomic_steps: 0, ..ours() }),
            ["transitions", "atomic steps"]
        );
        assert_eq!(differing(&theirs(&["invalid end state"]), ours()), ["end states"]);
        assert_eq!(
            differing(&theirs(&["assertion violated (x==1)"]), SpinorReport { end_state: true, ..ours() }),
            ["assertions", "end states"]
        );
    }

    #[test]
    fn after_a_run_time_error_only_the_verdict_counts() {
        let fault = theirs(&["block in d_step seq"]);
        assert!(
            differing(&fault, SpinorReport { stored: 9, faults: vec!["runtime-error: x".into()], ..ours() }).is_empty()
        );
        assert_eq!(differing(&fault, ours()), ["verdict"]);
        assert_eq!(
            differing(&theirs(&[]), SpinorReport { faults: vec!["runtime-error: x".into()], ..ours() }),
            ["verdict"]
        );
    }

    #[test]
    fn what_spin_cannot_answer_is_skipped() {
        let done = SpinorOutcome::Done(ours());
        assert!(matches!(compare(&SpinOutcome::TimedOut, &done), Comparison::Skipped(_)));
        assert!(matches!(compare(&SpinOutcome::Rejected("no".into()), &done), Comparison::Skipped(_)));
        let refused = SpinorOutcome::Rejected("no".into());
        assert_eq!(compare(&SpinOutcome::Rejected("no".into()), &refused), Comparison::Agree);
        assert!(matches!(compare(&theirs(&[]), &refused), Comparison::Differ(_)));
    }
}
