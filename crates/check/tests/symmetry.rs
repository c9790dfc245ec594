//! With symmetry and without, models have the same verdicts, and one state of each orbit is stored.

use spinor_check::check::{Interpreted, Said, Stated, check};
use spinor_check::cycles::Fairness;
use spinor_check::observer::Silent;
use spinor_check::report::Report;
use spinor_check::settings::{Search, Selection, Settings};
use spinor_check::symmetry::Way;
use spinor_check::verdict::Verdict;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;

fn run(name: &str, text: &str, settings: &Settings) -> Report {
    let loaded = load(name, text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
    let model = loaded.model.unwrap_or_else(|| panic!("{name} is refused: {:?}\n{text}", loaded.diagnostics));
    let stated: Vec<Stated> = model
        .ltl
        .iter()
        .map(|f| Stated {
            name: f.name.clone(),
            said: Said::Formula { formula: f.formula.clone(), props: f.props.clone() },
        })
        .collect();
    let interp = Interp::new(model.system.clone());
    check(&interp, &stated, settings, &Interpreted, &mut Silent).expect("the request makes sense")
}

fn words(report: &Report) -> Vec<(String, &'static str)> {
    report.properties.iter().map(|p| (p.name.clone(), p.verdict.word())).collect()
}
