//! Cycles without progress: every search in both meanings, on the corpus and on random models, by the interpreter and in
//! native code, with and without optimisation, against the oracle on the model as it was written.
//!
//! `corpus/**/*.expect` may say `by states VERDICT` and `by steps VERDICT`, with the least progress before a cycle if there is
//! one. `SPINOR_SEEDS=0..5000` for more random models.

use spinor::native::natively;
use spinor_check::check::interpreted;
use spinor_check::cycles::Fairness;
use spinor_check::cycles::oracle::has_accepted_component;
use spinor_check::observer::Silent;
use spinor_check::progress::Ground;
use spinor_check::progress::answer::Account;
use spinor_check::progress::meaning::{Meaning, Of, Progress};
use spinor_check::progress::modes::Modes;
use spinor_check::progress::oracle::Graph;
use spinor_check::progress::system::Grounds;
use spinor_check::reduce::still::HowMany;
use spinor_check::reduce::{AbleBy, Proviso, Repairs, Selector, UnlessBy};
use spinor_check::report::PropertyReport;
use spinor_check::settings::{FairBy, Reduce, Search, Selection, Settings, Store};
use spinor_gen::question::{Draws, seeds};
use spinor_lang::{Options, load};
use spinor_model::interp::{Interp, Log};
use spinor_model::ir::System;
use spinor_model::optimise::Optimisations;
use spinor_model::successors::Successors;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The searches that say after how little progress there is a cycle, and those that do not.
const BY_LEVEL: [(Search, usize); 3] = [(Search::Fifo, 1), (Search::FifoLevels, 1), (Search::FifoLevels, 2)];
const OTHERS: [Search; 6] =
    [Search::Restarts, Search::NdfsNp, Search::Scc, Search::Ndfs, Search::NdfsSeed, Search::Cndfs];

/// The reductions, and for steps what is selected by each: no steps that make progress, or not only such steps.
fn reductions(progress: Progress) -> Vec<(Reduce, HowMany)> {
    if progress == Progress::States {
        return [Selector::Ample, Selector::Stubborn].map(|by| (Reduce::By(by), HowMany::One)).to_vec();
    }
    let by = [Selector::Ample, Selector::Stubborn, Selector::Leap, Selector::Lra].map(Reduce::By);
    by.into_iter().flat_map(|by| HowMany::ALL.map(|still| (by, still))).collect()
}

fn ask(interp: &Interp, native: bool, settings: &Settings) -> PropertyReport {
    let settings = Settings { select: Selection::of(["progress"]), ..settings.clone() };
    let report = match native {
        true => natively(interp, &[], &settings, &mut Silent),
        false => interpreted(interp, &[], &settings, &mut Silent),
    };
    report.expect("a question about progress").properties.remove(0)
}

/// `holds`, or `violated` with the progress before the cycle.
fn said(p: &PropertyReport) -> String {
    match &p.account {
        Some(Account { before, .. }) => format!("{} {before}", p.verdict.word()),
        None => p.verdict.word().to_string(),
    }
}

fn corpus() -> Vec<PathBuf> {
    ["progress", "regressions"].map(|family| spinor_gen::corpus::family(family, &["pml"])).concat()
}

#[test]
fn the_corpus_says_its_truth_in_both_meanings() {
    let (mut wrong, mut n) = (String::new(), 0);
    for path in corpus() {
        let text = std::fs::read_to_string(&path).expect("a model");
        let expect = std::fs::read_to_string(path.with_extension("expect")).expect("its truth");
        let name = path.file_name().expect("a name").to_string_lossy();
        let loaded = load(&name, &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let Some(model) = loaded.model else { panic!("{name}: {:?}", loaded.diagnostics) };
        let interp = Interp::new(model.system.clone());
        for line in expect.lines() {
            let Some((progress, truth)) = line.strip_prefix("by ").and_then(|l| l.split_once(' ')) else { continue };
            n += 1;
            let progress = if progress == "steps" { Progress::Steps } else { Progress::States };
            for (store, reduce) in [Store::HashCompact, Store::Bitstate]
                .into_iter()
                .flat_map(|s| [(s, Reduce::Off), (s, Reduce::By(Selector::Stubborn))])
            {
                let table = Some(1 << 16);
                let found = ask(&interp, false, &Settings { progress, store, reduce, table, ..Settings::default() });
                let is_violated = found.verdict.word() == "violated";
                if is_violated != truth.starts_with("violated") || found.verdict.word() == "holds" {
                    wrong.push_str(&format!(
                        "{name} {progress:?} {store:?} {reduce:?}: {}, not {truth}\n",
                        found.verdict.word()
                    ));
                }
            }
            for (plain, store) in [(true, Store::Arena), (true, Store::Tree), (false, Store::Tree)] {
                let base = Settings { progress, plain, store, ..Settings::default() };
                for (search, jobs) in BY_LEVEL {
                    let found = said(&ask(&interp, false, &Settings { search, jobs, ..base.clone() }));
                    // Statements that are one step show fewer states.
                    let same = if plain { found == truth } else { found.split(' ').next() == truth.split(' ').next() };
                    if !same {
                        wrong.push_str(&format!(
                            "{name} {progress:?} {search:?}, plain {plain}: {found}, not {truth}\n"
                        ));
                    }
                }
                for (reduce, still) in reductions(progress).into_iter().filter(|_| plain && store == Store::Tree) {
                    for (search, jobs) in BY_LEVEL.into_iter().chain([(Search::Restarts, 1)]) {
                        let base = Settings { plain: false, optimise: Optimisations::NONE, ..base.clone() };
                        let found =
                            said(&ask(&interp, false, &Settings { search, jobs, reduce, still, ..base.clone() }));
                        let word = |s: &str| s.split(' ').next().map(String::from);
                        let same =
                            if search == Search::Restarts { word(&found) == word(truth) } else { found == truth };
                        if !same {
                            wrong.push_str(&format!(
                                "{name} {progress:?} {search:?} {reduce:?} {still:?}: {found}, not {truth}\n"
                            ));
                        }
                    }
                }
                for search in OTHERS {
                    let found = ask(&interp, false, &Settings { search, ..base.clone() }).verdict.word();
                    if !truth.starts_with(found) {
                        wrong.push_str(&format!(
                            "{name} {progress:?} {search:?}, plain {plain}: {found}, not {truth}\n"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n >= 50, "only {n} truths");
}

/// A model with labels put at random places, also inside `atomic` and `d_step`.
fn labelled(seed: u64) -> Option<System> {
    let text = spinor_gen::generate_own(seed).text;
    let model = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p)).model?;
    let mut system = System::clone(&model.system);
    let mut draws = Draws(seed);
    let rare = 2 + draws.below(6);
    for t in system.proctypes.iter_mut() {
        t.locs.iter_mut().for_each(|l| l.progress = draws.below(rare) == 0);
    }
    Some(system)
}

/// How much progress the initial state itself is.
fn at_first(ground: &impl Ground) -> u64 {
    let (mut desk, mut key) = (ground.desk(), Vec::new());
    u64::from(ground.initial(&mut desk, &mut key) && ground.bring(&mut desk, &key))
}

/// Every step makes progress iff one of its statements stands at a label that counts. The first is of who makes the step;
/// in a handshake all others are the partner's, whose floor it is then.
fn check_makes(interp: &Interp, meaning: &Meaning) {
    let system = interp.system();
    let mut first = Vec::new();
    interp.pack(&interp.initial().expect("a state"), &mut first);
    let (mut seen, mut todo) = (BTreeSet::from([first.clone()]), vec![first]);
    while let Some(key) = todo.pop() {
        let (mut state, mut steps, mut batch) = (interp.unpack(&key), Vec::new(), interp.batch());
        interp.enabled(&mut state, &mut steps);
        interp.fire(&mut state, &steps, &mut batch);
        for outcome in &batch.outcomes {
            let Some(after) = batch.key(outcome) else { continue };
            if seen.insert(after.to_vec()) {
                todo.push(after.to_vec());
            }
            let (step, mut before, mut makes) = (steps[outcome.step as usize], state.clone(), false);
            for micro in interp.path(&state, step, outcome.path) {
                let mut log = Log::default();
                let _ = interp.apply(&mut before, micro.step, &mut log);
                for (n, (t, edge)) in log.reached.into_iter().enumerate() {
                    let pid = micro.step.partner.filter(|_| n > 0).map_or(micro.step.pid, |(pid, _)| pid);
                    let own = meaning.of.is_none_or(|of| of.pid.is_none_or(|own| own == pid));
                    makes |= own && meaning.marks(t, system.proctypes[t].edges[edge].from);
                }
                before = micro.state;
            }
            assert_eq!(meaning.made(interp, &state, step, outcome.path), makes, "{step:?} {:?}", meaning.of);
        }
    }
}

#[test]
fn random_models_agree_with_the_oracle() {
    let (mut n, mut n_cycles, mut n_deep, mut n_of) = (0, 0, 0, 0);
    for seed in seeds(0..160) {
        let Some(system) = labelled(seed) else { continue };
        let interp = Interp::new(Arc::new(system));
        let mut draws = Draws(seed ^ 99);
        let size = Settings { select: Selection::safety(), plain: true, max_depth: Some(400), ..Settings::default() };
        let size = interpreted(&interp, &[], &size, &mut Silent).expect("an answer");
        if size.stats().stored > 400 || !size.stats().complete {
            continue;
        }
        n += 1;
        for progress in [Progress::States, Progress::Steps] {
            let system = interp.system();
            let types: Vec<&str> = system.proctypes.iter().map(|t| t.name.as_str()).collect();
            let of = match draws.below(4) {
                0 => Some(types[draws.below(types.len())].to_string()),
                1 => Some(format!("{}[{}]", types[draws.below(types.len())], draws.below(3))),
                _ => None,
            };
            // Of those that may be there.
            let of = of.filter(|of| Of::read(of, system).is_ok());
            n_of += u64::from(of.is_some());
            let told = format!("seed {seed} {progress:?} of {of:?}");
            let whose = of.as_ref().map(|of| Of::read(of, system).expect("a proctype"));
            let meaning = Meaning::new(system, progress, whose);
            let relabelled = meaning.relabelled(interp.shared_system());
            let still = meaning.still(&relabelled);
            let looking = Interp::looking(relabelled, std::slice::from_ref(&still));
            let ground = Grounds::new(&looking, &looking, &meaning);
            if progress == Progress::Steps {
                check_makes(&looking, &meaning);
            }
            let level = Graph::new(&ground).level();
            n_cycles += u64::from(level.is_some());
            n_deep += u64::from(level > Some(0));
            let truth = match level {
                Some(level) => format!("violated {}", level + at_first(&ground)),
                None => "holds".to_string(),
            };
            for plain in [true, false] {
                // Most of the time would go into learning an order of the keys and shorter runs.
                let store = if draws.below(4) == 0 { Store::Tree } else { Store::Arena };
                let shorten = draws.below(4) == 0;
                let base = Settings { progress, progress_of: of.clone(), plain, store, shorten, ..Settings::default() };
                for (search, jobs) in BY_LEVEL {
                    for native in [false, true].into_iter().filter(|native| !native || draws.below(4) == 0) {
                        let found = said(&ask(&interp, native, &Settings { search, jobs, ..base.clone() }));
                        let word = |s: &str| s.split(' ').next().map(String::from);
                        assert_eq!(word(&found), word(&truth), "{told}: {search:?} plain {plain} native {native}");
                        assert!(!plain || found == truth, "{told}: {search:?}: {found}, not {truth}");
                    }
                }
                for (reduce, still) in reductions(progress) {
                    // Without optimisation the least progress is the same as well.
                    let optimise = if plain { Optimisations::NONE } else { Optimisations::ALL };
                    let base = Settings { plain: false, optimise, reduce, still, ..base.clone() };
                    // More models are worth more than more ways for each.
                    for (search, jobs) in BY_LEVEL.into_iter().chain([(Search::Restarts, 1)]) {
                        if draws.below(3) != 0 {
                            continue;
                        }
                        let p = ask(&interp, draws.below(8) == 0, &Settings { search, jobs, ..base.clone() });
                        let told = format!("{told}: {search:?} by {jobs}, {reduce:?} {still:?}");
                        assert!(truth.starts_with(p.verdict.word()), "{told}: {}, not {truth}", said(&p));
                        let exact = plain && search != Search::Restarts;
                        assert!(!exact || said(&p) == truth, "{told}: {}, not {truth}", said(&p));
                    }
                }
                for search in OTHERS {
                    let native = draws.below(2) == 0;
                    let found = ask(&interp, native, &Settings { search, ..base.clone() });
                    assert!(truth.starts_with(found.verdict.word()), "{told}: {search:?} plain {plain}");
                }
                if progress == Progress::States && !plain {
                    for (search, reduce) in
                        [(Search::Scc, Reduce::By(Selector::Stubborn)), (Search::Ndfs, Reduce::By(Selector::Ample))]
                    {
                        let found = ask(&interp, draws.below(2) == 0, &Settings { search, reduce, ..base.clone() });
                        assert!(truth.starts_with(found.verdict.word()), "{told}: {search:?} {reduce:?}");
                    }
                }
                if progress == Progress::Steps {
                    for fairness in [Fairness::Weak, Fairness::Strong] {
                        let fair = has_accepted_component(&Modes::new(&looking, &looking, &meaning), fairness);
                        for (search, fair_by) in [(Search::Auto, FairBy::Auto), (Search::Ndfs, FairBy::Flags)] {
                            let settings = Settings { search, fair_by, fairness, ..base.clone() };
                            let found = ask(&interp, draws.below(2) == 0, &settings);
                            let refused = found.search.is_none();
                            let same = (found.verdict.word() == "violated") == fair;
                            assert!(refused || same, "{told}: {search:?} {fairness:?} plain {plain}");
                        }
                    }
                }
            }
        }
    }
    println!("{n} models: {n_cycles} cycles, {n_deep} after progress, {n_of} questions about one process");
    assert!(n >= 30 && n_cycles >= 10 && n_deep >= 2, "{n} {n_cycles} {n_deep}");
}

/// What one process does hides that another makes none; the report names both.
#[test]
fn progress_of_one_process() {
    let text = "byte y;\nactive proctype P() { y == 7; progress: skip }\n\
                active proctype Q() { do :: y = 1 - y; progress: skip od }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let interp = Interp::new(loaded.model.expect("a model").system);
    for progress in [Progress::States, Progress::Steps] {
        for (of, truth) in [
            (None, "holds"),
            (Some("P"), "violated"),
            (Some("P[0]"), "violated"),
            (Some("Q"), "holds"),
            (Some("Q[1]"), "holds"),
        ] {
            let settings = Settings { progress, progress_of: of.map(String::from), ..Settings::default() };
            let p = ask(&interp, true, &settings);
            assert_eq!(p.verdict.word(), truth, "{of:?} {progress:?}");
        }
    }
    // Who takes a message passes a label, and who sends it goes on at once: both are processes of one type.
    let text = "chan q = [0] of { bit }; bit b;\nactive [2] proctype P() { bit x;\n\
                if :: _pid == 0 -> do :: atomic { q!1; if :: b -> progress_a: b = 0 :: else fi } od\n\
                :: else -> progress_b: do :: q?x od fi }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let both = Interp::new(loaded.model.expect("a model").system);
    for (of, truth) in [("P[0]", "violated"), ("P[1]", "holds"), ("P", "holds")] {
        for (search, plain) in [Search::Fifo, Search::FifoLevels, Search::Restarts, Search::NdfsNp, Search::Scc]
            .into_iter()
            .flat_map(|search| [(search, true), (search, false)])
        {
            let (progress, progress_of) = (Progress::Steps, Some(of.to_string()));
            let settings = Settings { progress, progress_of, search, plain, ..Settings::default() };
            assert_eq!(ask(&both, true, &settings).verdict.word(), truth, "{of} {search:?} {plain}");
        }
    }
    for (of, why) in [("R", "no proctype `R`"), ("Q[0]", "no process 0 of proctype `Q`: 1"), ("Q[x]", "not a proctype")]
    {
        let settings = Settings { progress_of: Some(of.to_string()), ..Settings::default() };
        let wrong = interpreted(&interp, &[], &settings, &mut Silent).expect_err("nobody of that name");
        assert!(wrong[0].message.contains(why), "{wrong:?}");
    }
}

/// What was asked for and has nothing to be about is told.
#[test]
fn an_option_that_has_no_effect_is_told() {
    let text = "byte y;\nactive [2] proctype P() { do :: y = 1 - y; progress: skip od }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let interp = Interp::new(loaded.model.expect("a model").system);
    let told = |settings: Settings| {
        let report = interpreted(&interp, &[], &settings, &mut Silent).expect("a report");
        report
            .notes
            .iter()
            .filter(|n| n.contains("no effect") || n.contains("no difference"))
            .cloned()
            .collect::<Vec<_>>()
    };
    let of = |what: &str, settings: Settings| {
        let told = told(settings);
        assert!(matches!(&told[..], [one] if one.contains(what)), "{what}: {told:?}");
    };
    let base = Settings::default;
    let (flags, able) = (FairBy::Flags, Repairs { able: AbleBy::Static, ..Repairs::default() });
    of("--fair-by", Settings { fair_by: flags, ..base() });
    of("--able-by", Settings { repairs: able, ..base() });
    of("--still", Settings { still: HowMany::All, ..base() });
    of("--plain", Settings { plain: true, proviso: Proviso::Levels, ..base() });
    of("--por off", Settings { reduce: Reduce::Off, audit: true, ..base() });
    let steps = Settings { still: HowMany::All, progress: Progress::Steps, ..base() };
    let fair = Settings { fair_by: flags, repairs: able, fairness: Fairness::Weak, ..base() };
    for settings in [base(), steps, fair, Settings { proviso: Proviso::Levels, ..base() }] {
        assert_eq!(told(settings.clone()), Vec::<String>::new(), "{settings:?}");
    }
}

/// Who asks for a paper's way of leaving out steps is told where it is not taken.
#[test]
fn a_repair_that_is_not_of_progress_is_refused_and_told() {
    let text = "chan q = [0] of { bit }; bit b;\nactive proctype P() { do :: b = 1 - b; progress: skip od }\n\
                active proctype Q() { do :: q!1 od }\nactive proctype R() { do :: q?_ od }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let interp = Interp::new(loaded.model.expect("a model").system);
    let told = |repairs: Repairs, fairness| {
        let select = Selection::of(["progress"]);
        let settings = Settings { repairs, fairness, select, search: Search::Scc, ..Settings::default() };
        let report = natively(&interp, &[], &settings, &mut Silent).expect("a report");
        report.notes.iter().any(|note| note.contains("selected by the state alone"))
    };
    let unless = Repairs { unless: UnlessBy::Static, ..Repairs::default() };
    let able = Repairs { able: AbleBy::Static, ..Repairs::default() };
    assert!(told(unless, Fairness::None) && told(unless, Fairness::Weak) && told(able, Fairness::Weak));
    assert!(!told(able, Fairness::None) && !told(Repairs::default(), Fairness::Weak));
}

/// What is left out of a search for progress may be left out for ever: nothing else is answered from it.
#[test]
fn nothing_but_progress_is_answered_from_what_progress_needs() {
    let text = "bit x; byte y;\nactive proctype P() { do :: x = 1 - x; progress: skip od }\n\
                active proctype Q() { y == 0; y = 1; assert(y == 0) }";
    let loaded = load("m.pml", text, &Options::default(), &|p: &Path| std::fs::read(p));
    let interp = Interp::new(loaded.model.expect("a model").system);
    for progress in [Progress::States, Progress::Steps] {
        for search in [Search::Auto, Search::Fifo, Search::FifoLevels, Search::Restarts] {
            let settings = Settings { progress, search, reduce: Reduce::By(Selector::Stubborn), ..Settings::default() };
            let report = natively(&interp, &[], &settings, &mut Silent).expect("a report");
            let said = |name: &str| report.properties.iter().find(|p| p.name == name).map(|p| p.verdict.word());
            assert_eq!(said("progress"), Some("holds"), "{search:?} {progress:?}");
            assert_eq!(said("assert"), Some("violated"), "{search:?} {progress:?}");
            assert_eq!(said("deadlock"), Some("holds"), "{search:?} {progress:?}");
            // Q need not move for the sake of progress, and is reached all the same; only the end of P is not.
            assert_eq!(report.unreached.map_or(0, |u| u.len()), 1, "{search:?} {progress:?}");
        }
    }
}
