//! Every model of the corpus answers its truth.
//!
//! `corpus/**/*.pml` stands beside `*.expect`: one line `property verdict` each, then `stored` and `transitions` of the
//! unreduced search. Depth-first and breadth-first must agree with it, and so must the oracle.

use spinor_check::check::{Interpreted, check};
use spinor_check::observer::Silent;
use spinor_check::oracle::Graph;
use spinor_check::report::Report;
use spinor_check::settings::{Search, Settings};
use spinor_check::verdict::Kind;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::validate::validate;
use std::path::{Path, PathBuf};

fn models() -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the corpus").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "pml") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

fn lines(report: &Report) -> String {
    let mut out = String::new();
    for p in &report.properties {
        out.push_str(&format!("{} {}\n", p.name, p.verdict.word()));
    }
    let stats = report.stats();
    out.push_str(&format!("stored {}\ntransitions {}\n", stats.stored, stats.transitions));
    out
}

#[test]
fn every_model_answers_its_truth_in_both_orders_and_by_the_oracle() {
    let mut wrong = String::new();
    let models = models();
    assert!(models.len() >= 35, "only {} models", models.len());
    for path in models {
        let text = std::fs::read_to_string(&path).expect("a model");
        let expect = std::fs::read_to_string(path.with_extension("expect"))
            .unwrap_or_else(|_| panic!("{} has no .expect", path.display()));
        let expect: String = expect.lines().filter(|l| !l.starts_with('#')).map(|l| format!("{l}\n")).collect();
        let name = path.file_name().expect("a name").to_string_lossy();
        let loaded = load(&name, &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let Some(model) = loaded.model else { panic!("{name}: {:?}", loaded.diagnostics) };
        assert_eq!(validate(&model.system), Vec::<String>::new(), "{name}");
        let interp = Interp::new(model.system.clone());
        let formulas: Vec<String> = model.formulas.iter().map(|f| f.name.clone()).collect();
        for search in [Search::Bfs, Search::Dfs] {
            let settings = Settings { search, all_errors: Some(1), plain: true, ..Settings::default() };
            let report = check(&interp, &formulas, &settings, &Interpreted, &mut Silent).expect("all properties");
            let found = lines(&report);
            if found != expect {
                wrong.push_str(&format!("{name} {search:?}\nexpected:\n{expect}found:\n{found}\n"));
            }
        }
        let graph = Graph::build(&interp);
        let says = |property: &str| expect.contains(&format!("{property} violated\n"));
        for (property, kind) in
            [("assert", Kind::Assertion), ("deadlock", Kind::EndState), ("runtime", Kind::RuntimeError)]
        {
            let (n, shortest) = graph.violations(kind);
            if (n > 0) != says(property) {
                wrong.push_str(&format!(
                    "{name} {property}: the oracle finds {n}, the nearest after {shortest:?} steps\n"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn both_searches_agree_with_the_oracle_on_random_models() {
    let mut n = 0;
    for seed in 0..250 {
        let text = spinor_gen::generate(seed).text;
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}", loaded.diagnostics));
        assert_eq!(validate(&model.system), Vec::<String>::new(), "seed {seed}");
        let interp = Interp::new(model.system);
        let settings = |search| Settings { search, all_errors: Some(1), plain: true, ..Settings::default() };
        let answer = |search| check(&interp, &[], &settings(search), &Interpreted, &mut Silent).expect("an answer");
        let (bfs, dfs) = (answer(Search::Bfs), answer(Search::Dfs));
        if bfs.stats().stored > 3000 {
            continue; // the oracle is slow on purpose
        }
        n += 1;
        let graph = Graph::build(&interp);
        let edges: usize = graph.nodes.iter().map(|n| n.edges.iter().filter(|e| e.to.is_some()).count()).sum();
        let transitions = if graph.nodes.is_empty() { 0 } else { 1 + edges as u64 };
        for report in [&bfs, &dfs] {
            assert_eq!(report.stats().stored, graph.nodes.len() as u64, "seed {seed}");
            assert_eq!(report.stats().transitions, transitions, "seed {seed}");
            for property in &report.properties {
                let (violations, shortest) = graph.violations(property.kind);
                assert_eq!(property.verdict.word() == "violated", violations > 0, "seed {seed} {}", property.name);
                assert_eq!(property.n_violations, violations, "seed {seed} {}", property.name);
                // Breadth-first, the first trace is a shortest one.
                if let (true, Some(trace), Some(_)) = (std::ptr::eq(report, &bfs), property.traces.first(), shortest) {
                    assert!(!trace.steps.is_empty() || shortest == Some(0), "seed {seed} {}", property.name);
                }
            }
        }
    }
    assert!(n > 150, "only {n} models were small enough");
}
