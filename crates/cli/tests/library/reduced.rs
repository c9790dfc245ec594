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
use spinor_check::reduce::Selector;
use spinor_check::report::Report;
use spinor_check::settings::{Reduce, Search, Selection, Settings, Store};
use spinor_check::symmetry::Way;
use spinor_check::trace::Trace;
use spinor_gen::question::{Draws, conditions, formula, seeds};
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::{Expr, System};
use spinor_model::optimise::Optimisations;
use std::path::Path;

/// Some conditions to ask about.
fn props(system: &System, draws: &mut Draws) -> Vec<Expr> {
    let all = conditions(system, draws);
    (0..1 + draws.below(2)).map(|_| all[draws.below(all.len())].clone()).collect()
}

/// An atomic is one move of the search, however many statements it has; where it has to wait others go on, or nobody can and
/// it goes on by a timeout.
fn moves(trace: &Trace) -> usize {
    trace.steps.len()
        - trace.steps.iter().zip(trace.steps.iter().skip(1)).filter(|(step, next)| step.goes_on(next)).count()
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
    for seed in seeds(0..240) {
        let text = spinor_gen::generate_own(seed).text;
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}", loaded.diagnostics));
        let interp = Interp::new(model.system.clone());
        if spinor_check::reduce::refusal(interp.system()).is_some() {
            continue;
        }
        let mut draws = Draws(seed);
        let store = Store::Arena;
        let safety = Settings {
            reduce: Reduce::Off,
            symmetry: Way::Off,
            select: Selection::safety(),
            store,
            ..Settings::default()
        };
        let unoptimised = Settings { optimise: Optimisations::NONE, ..safety.clone() };
        let truth = run(&interp, &[], &unoptimised, false);
        if !(3..=MOST).contains(&truth.searches[0].stored) {
            continue;
        }
        n += 1;
        n_violated += truth.properties.iter().filter(|p| p.verdict.word() == "violated").count();
        let optimised = run(&interp, &[], &safety, false);
        for (way, (like, truth)) in [(&safety, &optimised), (&unoptimised, &truth)].into_iter().enumerate() {
            for reduce in
                [Selector::Stubborn, Selector::Ample, Selector::Leap, Selector::Lra, Selector::Povas].map(Reduce::By)
            {
                for search in [Search::Bfs, Search::Dfs] {
                    // More models are worth more than more ways for each.
                    let rare = if matches!(reduce, Reduce::By(Selector::Lra | Selector::Povas)) { 8 } else { 2 };
                    if draws.below(rare) != 0 {
                        continue;
                    }
                    let native = draws.below(4) == 0;
                    let jobs = 1 + draws.below(2);
                    let store = if draws.below(4) == 0 { Store::Tree } else { Store::Arena };
                    let settings = Settings { reduce, search, jobs, store, ..like.clone() };
                    println!("seed {seed} {reduce:?} {search:?} optimised {}", way == 0); // where a panic came from
                    let report = run(&interp, &[], &settings, native);
                    let case =
                        || format!("seed {seed} {reduce:?} {search:?} optimised {} jobs {jobs}\n{text}", way == 0);
                    for (p, truth) in report.properties.iter().zip(&truth.properties) {
                        assert_eq!(p.verdict.word(), truth.verdict.word(), "{} {}", p.name, case());
                        let (Some(trace), Some(least)) = (p.traces.first(), truth.traces.first()) else { continue };
                        assert!(trace.shortest && least.shortest, "{} {}", p.name, case());
                        if way == 1 {
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
                        if reduce == Reduce::By(Selector::Stubborn) && search == Search::Bfs {
                            n_reduced += usize::from(stored < truth.searches[0].stored);
                            full += truth.searches[0].stored;
                            few += stored;
                        }
                    }
                }
            }
        }
        // States without steps alone: loops need not be closed.
        let ends = Selection::of(["deadlock"]);
        let dead = truth.properties.iter().find(|p| p.name == "deadlock").expect("asked for");
        for reduce in [Selector::Stubborn, Selector::Leap].map(Reduce::By) {
            let settings = Settings { reduce, select: ends.clone(), ..safety.clone() };
            let report = run(&interp, &[], &settings, false);
            assert_eq!(report.properties[0].verdict.word(), dead.verdict.word(), "seed {seed} ends {reduce:?}\n{text}");
            // Steps may be left out for ever then, so nothing is said about what nobody does.
            let told = report.unreached.is_none() || report.unreached == truth.unreached;
            assert!(told || !truth.searches[0].complete, "seed {seed} ends {reduce:?}\n{text}");
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
    let (mut n, mut n_violated, mut n_claims, mut full, mut few) = (0, 0, 0, 0u64, 0u64);
    for seed in seeds(0..240) {
        // Every fourth has a never claim, if one was drawn.
        let options = spinor_gen::Options { claimed: seed % 4 == 3, ..spinor_gen::own(seed) };
        let text = spinor_gen::generate_with(seed, &options).text;
        let loaded = load("m.pml", &text, &Options::default(), &|p: &Path| std::fs::read(p));
        let model = loaded.model.unwrap_or_else(|| panic!("seed {seed}: {:?}", loaded.diagnostics));
        let interp = Interp::new(model.system.clone());
        if spinor_check::reduce::refusal(interp.system()).is_some() {
            continue;
        }
        let mut draws = Draws(seed);
        let store = Store::Arena;
        let small = Settings {
            reduce: Reduce::Off,
            symmetry: Way::Off,
            select: Selection::safety(),
            store,
            ..Settings::default()
        };
        if !(3..=MOST / 10).contains(&run(&interp, &[], &small, false).searches[0].stored) {
            continue;
        }
        n += 1;
        let mut stated = Vec::new();
        for name in ["f", "g", "h"] {
            let props = props(&model.system, &mut draws);
            let size = 2 + draws.below(5);
            let formula = formula(&mut draws, props.len(), size, false);
            stated.push(Stated { name: name.into(), said: Said::Formula { formula, props } });
        }
        let claim = (!model.system.claims.is_empty()).then_some("claim");
        let names = ["f", "g", "h", "accept", "progress"].into_iter().chain(claim);
        n_claims += usize::from(claim.is_some());
        let fairness = Fairness::ALL[draws.below(3)];
        let select = Selection::of(names);
        let truth =
            Settings { reduce: Reduce::Off, symmetry: Way::Off, select, fairness, store, ..Settings::default() };
        let truth = (run(&interp, &stated, &Settings { shorten: false, ..truth.clone() }, false), truth);
        n_violated += truth.0.properties.iter().filter(|p| p.verdict.word() == "violated").count();
        for reduce in [Selector::Stubborn, Selector::Ample, Selector::Leap, Selector::Lra].map(Reduce::By) {
            for search in [Search::Scc, Search::Ndfs, Search::NdfsSeed, Search::SccPar, Search::Cndfs] {
                let optimise = if draws.below(2) == 0 { Optimisations::ALL } else { Optimisations::NONE };
                if fairness == Fairness::Strong && !knows_components(search)
                    || draws.below(if reduce == Reduce::By(Selector::Lra) { 12 } else { 3 }) != 0
                    || reduce.leaps() && fairness != Fairness::None
                {
                    continue;
                }
                // Most of the time would go into making native code, learning an order of the keys and shorter runs.
                let (native, shorten) = (draws.below(8) == 0, draws.below(8) == 0);
                let store = if draws.below(8) == 0 { Store::Tree } else { Store::Arena };
                let settings = Settings { reduce, search, optimise, store, shorten, jobs: 2, ..truth.1.clone() };
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
                if reduce == Reduce::By(Selector::Stubborn) && search == Search::Scc && optimise == Optimisations::ALL {
                    let holds = |s: &&spinor_check::report::Stats| s.complete;
                    few += report.searches.iter().filter(holds).map(|s| s.stored).sum::<u64>();
                    full += truth.0.searches.iter().filter(holds).map(|s| s.stored).sum::<u64>();
                }
            }
        }
    }
    println!("{n} models, {n_claims} with a claim, {n_violated} violated, {few} of {full} states");
    assert!(n > 20 && n_violated > 10 && n_claims > 5, "{n} models, {n_claims} claims, {n_violated} violated");
}
