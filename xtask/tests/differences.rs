//! DIFFERENCES.md is run: each model through both tools, and each answer compared with what the page says.

use std::path::Path;
use std::time::Duration;
use xtask::spin::{Spin, SpinOutcome};
use xtask::spinor::{Spinor, SpinorOutcome};

fn spin_says(outcome: &SpinOutcome) -> String {
    match outcome {
        SpinOutcome::Done(r) => format!("{} stored, {} transitions, errors: {}", r.stored, r.transitions, r.errors),
        SpinOutcome::Rejected(_) | SpinOutcome::Failed(_) => "refuses it".to_string(),
        SpinOutcome::TimedOut => "takes too long".to_string(),
    }
}

fn spinor_says(outcome: &SpinorOutcome) -> String {
    match outcome {
        SpinorOutcome::Done(r) => {
            let mut violated = Vec::new();
            if r.assertion {
                violated.push("assertion");
            }
            if r.end_state {
                violated.push("end-state");
            }
            violated.extend(r.faults.iter().filter_map(|f| f.split(':').next()));
            let verdict =
                if violated.is_empty() { "no error".to_string() } else { format!("violated: {}", violated.join(", ")) };
            format!("{} stored, {} transitions, {verdict}", r.stored, r.transitions)
        }
        SpinorOutcome::Rejected(why) => format!("refuses it: {why}"),
        SpinorOutcome::TimedOut => "takes too long".to_string(),
    }
}

#[test]
fn both_tools_say_what_the_page_says() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../DIFFERENCES.md");
    let page = std::fs::read_to_string(page).expect("DIFFERENCES.md");
    let limit = Duration::from_secs(20);
    let spin = Spin::find(limit).expect("SPIN is needed for this test");
    let mut mended = spin.clone();
    mended.mended = true;
    let spinor = Spinor::find(None, limit).expect("the spinor binary is needed for this test");
    let mut wrong = String::new();
    let mut n = 0;
    for section in page.split("\n## ").skip(1).filter(|s| s.contains("```promela\n")) {
        let title = section.lines().next().unwrap_or_default();
        let model = section.split("```promela\n").nth(1).and_then(|s| s.split("```").next()).expect("a model");
        let line = |who: &str| {
            let mark = format!("* {who}: ");
            section.lines().find_map(|l| l.strip_prefix(mark.as_str())).unwrap_or_default().to_string()
        };
        let (theirs, ours) = (line("SPIN"), line("Spinor"));
        let spin = spin_says(&spin.check_text(model).expect("spin runs"));
        // What SPIN says in words follows in parentheses.
        if theirs.split(" (").next() != Some(spin.as_str()) {
            wrong.push_str(&format!("{title}: SPIN says {spin}\n"));
        }
        let spinor = spinor_says(&spinor.check_text(model).expect("spinor runs"));
        if ours != spinor {
            wrong.push_str(&format!("{title}: Spinor says {spinor}\n"));
        }
        assert_ne!(theirs, ours, "{title}: no difference");
        if title.contains("`enabled`") {
            let spin = spin_says(&mended.check_text(model).expect("spin runs"));
            let figures = |said: &str| said.rsplit_once(", ").map(|(figures, _)| figures.to_string());
            if figures(&spin) != figures(&spinor) || spin.ends_with(" 0") != spinor.ends_with("no error") {
                wrong.push_str(&format!("{title}: put right, SPIN says {spin}\n"));
            }
        }
        n += 1;
    }
    assert!(n >= 20, "only {n} models");
    assert!(wrong.is_empty(), "{wrong}");
}
