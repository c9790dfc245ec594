//! `--audit`: selections of steps are tried out, and the report says how many.

use spinor_check::check::interpreted;
use spinor_check::observer::Silent;
use spinor_check::reduce::Selector;
use spinor_check::settings::{Reduce, Selection, Settings};
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use std::path::Path;

#[test]
fn an_audit_says_how_much_it_tried_out() {
    let text = "chan c = [0] of { bit };
        active proctype A() { byte l; l = 1; c!1; l = 2 }
        active proctype B() { byte l; l = 1; c?_; progress: l = 2 }
        ltl p { <> (B@progress) }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let model = loaded.model.expect("a model");
    let interp = Interp::new(model.system.clone());
    let notes = |audit, select| {
        let settings = Settings { reduce: Reduce::By(Selector::Stubborn), audit, select, ..Settings::default() };
        let report = interpreted(&interp, &[], &settings, &mut Silent).expect("all properties");
        report.notes.into_iter().filter(|n| n.starts_with("audited: ")).collect::<Vec<_>>()
    };
    let progress = || Selection::of(["progress"]);
    for select in [Selection::safety(), progress()] {
        assert_eq!(notes(false, select.clone()), Vec::<String>::new());
        let [note] = &notes(true, select)[..] else { panic!("one search, one note") };
        let n: u64 = note.trim_start_matches("audited: ").trim_end_matches(" selections").parse().expect("a number");
        assert!(n > 0, "{note}");
    }
}
