//! Partial order reduction on random models: every selector, with and without optimisation, both executors, breadth-first
//! and depth-first, one thread and two, against the search that leaves nothing out. Verdicts, the statements that no run
//! reaches and the values that lose bits must be the same.
//!
//! `SPINOR_SEEDS=0..20000` for more.

use spinor::native::natively;
use spinor_check::check::{Said, Stated, interpreted};
use spinor_check::cycles::Fairness;
use spinor_check::observer::Silent;
use spinor_check::plan::knows_components;
use spinor_check::report::Report;
use spinor_check::settings::{Reduce, Search, Selection, Settings};
use spinor_check::trace::Trace;
use spinor_lang::{Options, load};
use spinor_ltl::{Formula, PropId};
use spinor_model::interp::Interp;
use spinor_model::ir::{BinOp, Expr, Place, Probe, Scope, Shape, System};
use spinor_model::optimise::Optimisations;
use std::path::Path;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

fn seeds(unless: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let given = std::env::var("SPINOR_SEEDS").ok();
    let range = given.as_deref().and_then(|s| s.split_once("..")).map(|(a, b)| (a.parse(), b.parse()));
    match range {
        Some((Ok(from), Ok(to))) => from..to,
        _ => unless,
    }
}

/// What somebody outside could ask about: globals, locals of processes, labels, channels, how many processes there are.
fn props(system: &System, rng: &mut Rng) -> Vec<Expr> {
    let equals = |e: Expr, n: i32| Expr::Binary(BinOp::Eq, Box::new(e), Box::new(Expr::Const(n)));
    let mut all = vec![equals(Expr::NrPr, 1 + rng.below(3) as i32)];
    let place =
        |scope, id, var: &spinor_model::ir::Var, ty| Place { scope, var: id, slot: var.slot, ty, index: vec![] };
    for (id, var) in system.globals.vars.enumerated().filter(|(_, v)| !v.hidden) {
        if let Shape::Scalar(ty) = var.shape {
            let read = Expr::Read(place(Scope::Global, id, var, ty));
            all.push(match ty {
                spinor_model::ir::Type::Chan => equals(Expr::Probe(Probe::Len, Box::new(read)), rng.below(2) as i32),
                _ => equals(read, rng.below(2) as i32),
            });
        }
    }
    for (proctype, t) in system.proctypes.enumerated() {
        for (loc, l) in t.locs.enumerated() {
            let remote = |label: &String| Expr::AtLabel { proctype, pid: None, loc, label: label.clone() };
            all.extend(l.labels.iter().take(1).map(remote));
        }
        for (id, var) in t.frame.vars.enumerated().filter(|(_, v)| !v.hidden) {
            if let Shape::Scalar(ty) = var.shape {
                let place = place(Scope::Local, id, var, ty);
                all.push(equals(Expr::Remote { proctype, pid: None, place }, rng.below(2) as i32));
            }
        }
    }
    let n = 1 + rng.below(2) as usize;
    (0..n).map(|_| all[rng.below(all.len() as u64) as usize].clone()).collect()
}

/// Without `X`.
fn formula(rng: &mut Rng, n_props: u64, size: u64) -> Formula {
    if size <= 1 {
        return Formula::Prop(PropId(rng.below(n_props) as u32));
    }
    let part = |rng: &mut Rng, size: u64| Box::new(formula(rng, n_props, size));
    let left = 1 + rng.below(size - 1);
    match rng.below(9) {
        0 => Formula::Not(part(rng, size - 1)),
        1 | 2 => Formula::Always(part(rng, size - 1)),
        3 | 4 => Formula::Eventually(part(rng, size - 1)),
        5 => Formula::And(part(rng, left), part(rng, size - left)),
        6 => Formula::Or(part(rng, left), part(rng, size - left)),
        7 => Formula::Until(part(rng, left), part(rng, size - left)),
        _ => Formula::Implies(part(rng, left), part(rng, size - left)),
    }
}

/// Larger models take too long.
const MOST: u64 = 20_000;

fn run(interp: &Interp, stated: &[Stated], settings: &Settings, native: bool) -> Report {
    let report = if native {
        natively(interp, stated, settings, &mut Silent)
    } else {
        interpreted(interp, stated, settings, &mut Silent)
    };
    report.expect("the properties are there")
}

#[test]
fn what_is_left_out_makes_no_difference_on_random_models() {
    let (mut n, mut n_violated, mut n_reduced, mut full, mut few) = (0, 0, 0, 0u64, 0u64);
    let mut n_shortest = 0;
    for seed in seeds(0..120) {
        let text = spinor_gen::generate(seed).text;
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}", loaded.diagnostics));
        let interp = Interp::new(model.system.clone());
        if spinor_check::reduce::refusal(interp.system()).is_some() {
            continue;
        }
        let mut rng = Rng(seed);
        let safety = Settings { reduce: Reduce::Off, select: Selection::Safety, ..Settings::default() };
        let unoptimised = Settings { optimise: Optimisations::NONE, ..safety.clone() };
        let truth = run(&interp, &[], &unoptimised, true);
        if !(3..=MOST).contains(&truth.searches[0].stored) {
            continue;
        }
        n += 1;
        n_violated += truth.properties.iter().filter(|p| p.verdict.word() == "violated").count();
        let optimised = run(&interp, &[], &safety, true);
        for (way, (like, truth)) in [(&safety, &optimised), (&unoptimised, &truth)].into_iter().enumerate() {
            for reduce in [Reduce::Stubborn, Reduce::Ample, Reduce::Leap, Reduce::Lra, Reduce::Povas] {
                for search in [Search::Bfs, Search::Dfs] {
                    // Those of one paper on every fourth.
                    if matches!(reduce, Reduce::Lra | Reduce::Povas) && seed % 4 != 0 {
                        continue;
                    }
                    let native = rng.below(2) == 0;
                    let jobs = 1 + rng.below(2) as usize;
                    let settings = Settings { reduce, search, jobs, ..like.clone() };
                    println!("seed {seed} {reduce:?} {search:?} optimised {}", way == 0); // where a panic came from
                    let report = run(&interp, &[], &settings, native);
                    let case =
                        || format!("seed {seed} {reduce:?} {search:?} optimised {} jobs {jobs}\n{text}", way == 0);
                    for (p, truth) in report.properties.iter().zip(&truth.properties) {
                        assert_eq!(p.verdict.word(), truth.verdict.word(), "{} {}", p.name, case());
                        let (Some(trace), Some(least)) = (p.traces.first(), truth.traces.first()) else { continue };
                        assert!(trace.shortest && least.shortest, "{} {}", p.name, case());
                        if way == 1 {
                            // An atomic is one move of the search, however many statements it has.
                            let moves = |trace: &Trace| trace.steps.iter().filter(|s| !s.keeps_floor).count();
                            assert_eq!(moves(trace), moves(least), "{} {}", p.name, case());
                            n_shortest += 1;
                        }
                    }
                    // A search that found what it was asked for stops.
                    if truth.searches[0].complete {
                        assert!(report.searches[0].complete, "{}", case());
                        assert_eq!(report.unreached, truth.unreached, "{}", case());
                        assert_eq!(report.truncations, truth.truncations, "{}", case());
                    }
                    if truth.searches[0].complete && way == 1 {
                        let stored = report.searches[0].stored;
                        assert!(stored <= truth.searches[0].stored, "{}", case());
                        if reduce == Reduce::Stubborn && search == Search::Bfs {
                            n_reduced += usize::from(stored < truth.searches[0].stored);
                            full += truth.searches[0].stored;
                            few += stored;
                        }
                    }
                }
            }
        }
        // States without steps alone: loops need not be closed.
        let ends = Selection::Names(vec!["deadlock".into()]);
        let dead = truth.properties.iter().find(|p| p.name == "deadlock").expect("asked for");
        for reduce in [Reduce::Stubborn, Reduce::Leap] {
            let settings = Settings { reduce, select: ends.clone(), ..safety.clone() };
            let report = run(&interp, &[], &settings, true);
            assert_eq!(report.properties[0].verdict.word(), dead.verdict.word(), "seed {seed} ends {reduce:?}\n{text}");
        }
    }
    println!("{n} models, {n_violated} violated, {n_reduced} smaller: {few} of {full} states");
    assert!(
        n > 40 && n_violated > 10 && n_reduced > 20 && n_shortest > 40,
        "{n} {n_violated} {n_reduced} {n_shortest}"
    );
}

#[test]
fn runs_that_never_end_are_not_lost_on_random_models() {
    let (mut n, mut n_violated, mut full, mut few) = (0, 0, 0u64, 0u64);
    for seed in seeds(0..120) {
        let text = spinor_gen::generate(seed).text;
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}", loaded.diagnostics));
        let interp = Interp::new(model.system.clone());
        if spinor_check::reduce::refusal(interp.system()).is_some() {
            continue;
        }
        let mut rng = Rng(seed);
        let small = Settings { reduce: Reduce::Off, select: Selection::Safety, ..Settings::default() };
        if !(3..=MOST / 10).contains(&run(&interp, &[], &small, true).searches[0].stored) {
            continue;
        }
        n += 1;
        let mut stated = Vec::new();
        for name in ["f", "g", "h"] {
            let props = props(&model.system, &mut rng);
            let size = 2 + rng.below(5);
            let formula = formula(&mut rng, props.len() as u64, size);
            stated.push(Stated { name: name.into(), said: Said::Formula { formula, props } });
        }
        let names = ["f", "g", "h", "accept", "progress"].map(String::from).to_vec();
        let fairness = Fairness::ALL[rng.below(3) as usize];
        let truth = Settings { reduce: Reduce::Off, select: Selection::Names(names), fairness, ..Settings::default() };
        let truth = (run(&interp, &stated, &truth, true), truth);
        n_violated += truth.0.properties.iter().filter(|p| p.verdict.word() == "violated").count();
        for reduce in [Reduce::Stubborn, Reduce::Ample, Reduce::Leap, Reduce::Lra] {
            for search in [Search::Scc, Search::Ndfs, Search::NdfsSeed, Search::SccPar, Search::Cndfs] {
                let optimise = if rng.below(2) == 0 { Optimisations::ALL } else { Optimisations::NONE };
                if fairness == Fairness::Strong && !knows_components(search)
                    || reduce == Reduce::Lra && seed % 4 != 0
                    || matches!(reduce, Reduce::Lra | Reduce::Leap) && fairness != Fairness::None
                {
                    continue;
                }
                let settings = Settings { reduce, search, optimise, jobs: 2, ..truth.1.clone() };
                let native = rng.below(2) == 0;
                println!("seed {seed} {reduce:?} {search:?} {fairness:?} {optimise:?}"); // where a panic came from
                let report = run(&interp, &stated, &settings, native);
                for (p, truth) in report.properties.iter().zip(&truth.0.properties) {
                    let of = stated.iter().find(|s| s.name == p.name).map(|s| match &s.said {
                        Said::Formula { formula, props } => formula.text(&|p| format!("{:?}", props[p.0 as usize])),
                        Said::Automaton { .. } => String::new(),
                    });
                    let case = || {
                        format!("seed {seed} {} {of:?} {reduce:?} {search:?} {fairness:?} {optimise:?}\n{text}", p.name)
                    };
                    assert_eq!(p.verdict.word(), truth.verdict.word(), "{}", case());
                }
                if reduce == Reduce::Stubborn && search == Search::Scc && optimise == Optimisations::ALL {
                    let holds = |s: &&spinor_check::report::Stats| s.complete;
                    few += report.searches.iter().filter(holds).map(|s| s.stored).sum::<u64>();
                    full += truth.0.searches.iter().filter(holds).map(|s| s.stored).sum::<u64>();
                }
            }
        }
    }
    println!("{n} models, {n_violated} violated, {few} of {full} states");
    assert!(n > 20 && n_violated > 10, "{n} models, {n_violated} violated");
}
