//! Runs that never end: random models with random formulas, every search, every fairness, with and without optimisation,
//! by the interpreter and in native code, against the oracle on the model as it was written. What is found goes to
//! `spin -t` as a trail.
//!
//! `SPINOR_SEEDS=0..5000` for more.

use spinor::native::natively;
use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::claim::{Claim, Marking};
use spinor_check::cycles::Fairness;
use spinor_check::cycles::oracle::{has_accepted_component, is_somewhere_blind};
use spinor_check::cycles::product::Product;
use spinor_check::observer::Silent;
use spinor_check::plan::knows_components;
use spinor_check::report::PropertyReport;
use spinor_check::settings::{FairBy, Search, Selection, Settings, Store};
use spinor_gen::question::{Draws, conditions, formula, seeds};
use spinor_lang::{Options, load};
use spinor_ltl::Formula;
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use std::path::Path;
use std::process::Command;

/// Some conditions to ask about, whether all are stuck among them.
fn props(system: &System, draws: &mut Draws) -> Vec<Expr> {
    let mut all = conditions(system, draws);
    all.push(Expr::Timeout);
    (0..1 + draws.below(3)).map(|_| all[draws.below(all.len())].clone()).collect()
}

const WAYS: [(Search, FairBy); 9] = [
    (Search::Scc, FairBy::Scc),
    (Search::Ndfs, FairBy::Flags),
    (Search::Ndfs, FairBy::Copies),
    (Search::NdfsSeed, FairBy::Flags),
    (Search::NdfsSeed, FairBy::Copies),
    (Search::NdfsProcess, FairBy::Flags),
    (Search::SccPar, FairBy::Scc),
    (Search::Cndfs, FairBy::Flags),
    (Search::Cndfs, FairBy::Copies),
];

/// More states than this are too many for the oracle, which is slow on purpose.
const MOST: u64 = 250;

fn oracle(interp: &Interp, claim: &Claim, fairness: Fairness) -> bool {
    let looking = Interp::looking(interp.shared_system().clone(), &claim.looked);
    has_accepted_component(&Product::new(&looking, claim, fairness), fairness)
}

/// Whether the search that wants these marks can come to a state in which a condition of the formula has no value. Such a
/// state need not be looked at by an automaton with other marks.
fn comes_to_no_value(interp: &Interp, formula: &Formula, props: &[Expr], marking: Marking) -> bool {
    let claim = Claim::against(formula, props, marking).expect("a small automaton");
    let looking = Interp::looking(interp.shared_system().clone(), &claim.looked);
    is_somewhere_blind(&Product::new(&looking, &claim, Fairness::None))
}

fn answer(interp: &Interp, stated: &[Stated], settings: &Settings, native: bool) -> Vec<PropertyReport> {
    let report = if native {
        natively(interp, stated, settings, &mut Silent)
    } else {
        interpreted(interp, stated, settings, &mut Silent)
    };
    report.expect("the properties are there").properties
}

#[test]
fn every_way_agrees_with_the_oracle_on_random_models() {
    let (mut n, mut n_blind, mut n_violated, mut n_traces) = (0, 0, [0; 3], 0);
    let dir = std::env::temp_dir().join(format!("spinor-endless-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder for trails");
    // The last one asks how many messages are in a channel that is none.
    for seed in seeds(0..90).chain([40_000_366]) {
        let text = spinor_gen::generate_own(seed).text;
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}", loaded.diagnostics));
        let interp = Interp::new(model.system.clone());
        let small = Settings { plain: true, select: Selection::safety(), ..Settings::default() };
        let size = interpreted(&interp, &[], &small, &mut Silent).expect("safety").stats().stored;
        if !(3..=MOST).contains(&size) {
            continue;
        }
        n += 1;
        let mut draws = Draws(seed);
        let props = props(&model.system, &mut draws);
        let size = 2 + draws.below(5);
        let formula = formula(&mut draws, props.len(), size, true);
        let stated =
            [Stated { name: "f".into(), said: Said::Formula { formula: formula.clone(), props: props.clone() } }];
        let against = Claim::against(&formula, &props, Marking::Generalised).expect("a small automaton");
        let [blind_to_components, blind_to_states] =
            [Marking::Generalised, Marking::States].map(|m| comes_to_no_value(&interp, &formula, &props, m));
        n_blind += usize::from(blind_to_components);
        let claims = [
            ("f", against),
            ("accept", Claim::accept_labels()),
            ("progress", Claim::without_progress(Marking::States)),
        ];
        let select = Selection::of(claims.iter().map(|(name, _)| name.to_string()));
        for (f, fairness) in Fairness::ALL.into_iter().enumerate() {
            let truths: Vec<bool> = claims.iter().map(|(_, claim)| oracle(&interp, claim, fairness)).collect();
            n_violated[f] += truths.iter().filter(|t| **t).count();
            for (way, (search, fair_by)) in WAYS.into_iter().enumerate() {
                // In so small a model no state is taken for another; still nothing is said to hold.
                let hashes = if seed.is_multiple_of(2) { Store::HashCompact } else { Store::Bitstate };
                for (plain, store) in [(true, Store::Arena), (false, Store::Tree), (false, hashes)] {
                    let nested = matches!(search, Search::Ndfs | Search::NdfsSeed | Search::NdfsProcess);
                    if store.is_lossy() && (!nested || (seed / 2 + way as u64).is_multiple_of(2)) {
                        continue;
                    }
                    let native = (seed + way as u64).is_multiple_of(2) != plain;
                    let (select, table) = (select.clone(), Some(1 << 18));
                    let settings = Settings { search, fair_by, fairness, plain, store, table, ..Settings::default() };
                    let settings = Settings { select, jobs: 2, ..settings };
                    println!("seed {seed} {search:?} {fair_by:?} {fairness:?} {store:?}"); // where a panic came from
                    for p in answer(&interp, &stated, &settings, native) {
                        let at = claims.iter().position(|(name, _)| *name == p.name).expect("asked for");
                        let case = || {
                            let f = f_text(&formula, &props);
                            format!("seed {seed} {} {search:?} {fair_by:?} {fairness:?} {store:?}: {f}\n{text}", p.name)
                        };
                        if fairness == Fairness::Strong && !knows_components(search) {
                            assert_eq!(p.verdict.word(), "inconclusive", "{}", case());
                            continue;
                        }
                        // Where a condition has no value nothing is decided, unless a run that breaks the formula,
                        // and has values everywhere, is found before.
                        let components = knows_components(search);
                        let blind = at == 0 && if components { blind_to_components } else { blind_to_states };
                        let no_value = p.verdict.because().is_some_and(|because| because.contains("has no value"));
                        let said = (p.verdict.word(), no_value);
                        let right: &[_] = match (truths[at], blind) {
                            (true, false) => &[("violated", false)],
                            (true, true) => &[("violated", false), ("inconclusive", true)],
                            (false, true) => &[("inconclusive", true)],
                            (false, false) if store.is_lossy() => &[("inconclusive", false)],
                            (false, false) => &[("holds", false)],
                        };
                        assert!(right.contains(&said), "{:?}, not one of {right:?}: {}", p.verdict, case());
                        if search == Search::Scc && seed % 4 == 0 {
                            n_traces += p.traces.len();
                            p.traces.iter().for_each(|t| spin_follows(&dir, &text, &interp, t, &case()));
                        }
                    }
                }
            }
        }
    }
    let _ = std::fs::remove_dir_all(dir);
    println!(
        "{n} models, {n_blind} without a value somewhere, {n_violated:?} violated, {n_traces} traces replayed by SPIN"
    );
    assert!(n_blind > 0 && n > 30 && n_violated.iter().all(|v| *v > 10), "{n} models, {n_violated:?} violated");
}

fn f_text(formula: &Formula, props: &[Expr]) -> String {
    formula.text(&|p| format!("{:?}", props[p.0 as usize]))
}

/// SPIN takes every row of the trail.
fn spin_follows(dir: &Path, text: &str, interp: &Interp, trace: &spinor_check::trace::Trace, case: &str) {
    let initial = trace.initial.as_ref().expect("a run begins");
    let trail = spinor::trail::write(interp.system(), initial, &trace.steps, trace.cycle_start);
    std::fs::write(dir.join("m.pml"), text).expect("a model");
    std::fs::write(dir.join("m.pml.trail"), &trail).expect("a trail");
    let out = Command::new("spin").args(["-t", "-p", "m.pml"]).current_dir(dir).output().expect("spin is needed");
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    let rows = trail.lines().filter(|l| !l.starts_with("-1")).count();
    assert!(rows == 0 || said.contains(&format!("trail ends after {rows} steps")), "{case}\n{trail}\n{said}");
}

/// The models of DIFFERENCES.md about weak fairness: SPIN finds nothing, we find a run.
#[test]
fn the_page_of_differences_is_right_about_weak_fairness() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../DIFFERENCES.md");
    let page = std::fs::read_to_string(page).expect("DIFFERENCES.md");
    let dir = std::env::temp_dir().join(format!("spinor-fair-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let run = |program: &str, args: &[&str]| {
        let out = Command::new(program).args(args).current_dir(&dir).output();
        String::from_utf8_lossy(&out.unwrap_or_else(|e| panic!("{program}: {e}")).stdout).into_owned()
    };
    let models: Vec<&str> = page.split("```promela fair\n").skip(1).filter_map(|s| s.split("```").next()).collect();
    assert_eq!(models.len(), 2);
    for model in models {
        std::fs::write(dir.join("m.pml"), model).expect("a model");
        run("spin", &["-a", "-o1", "-o2", "-o3", "m.pml"]);
        run("tcc", &["-w", "-DNOREDUCE", "-o", "pan", "pan.c"]);
        let pan = dir.join("pan").to_string_lossy().into_owned();
        assert!(run(&pan, &["-a", "-f", "-m2000"]).contains("errors: 0"), "{model}");
        assert!(run(&pan, &["-a", "-m2000"]).contains("errors: 1"), "{model}");
        let ours = run(env!("CARGO_BIN_EXE_spinor"), &["check", "-q", "m.pml", "--fair", "weak"]);
        assert!(ours.starts_with("FAIL  ltl"), "{ours}");
    }
    let _ = std::fs::remove_dir_all(&dir);
}
