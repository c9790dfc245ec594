//! Selections under their own definition (`reduce/checked.rs`), on random models and on those of the corpus: both orders of
//! what is said to commute are tried out, with somebody looking and nobody, with fairness and without.
//!
//! `SPINOR_SEEDS=0..2000` for more.

use spinor_check::reduce::checked::skipped;
use spinor_check::reduce::without::Condition;
use spinor_check::reduce::{Proviso, Reduced, Reduction, Selector, refusal};
use spinor_gen::question::seeds;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::{BinOp, Expr, Place, Scope, Shape, System, Type};
use spinor_model::optimise::{Optimisations, Watched, optimise};
use spinor_model::successors::Successors;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// So many states of each model.
const MOST: usize = 150;

fn system(name: &str, text: &str) -> Arc<System> {
    let loaded = load(name, text, &Options::default(), &|p: &Path| std::fs::read(p));
    loaded.model.unwrap_or_else(|| panic!("{name}: {:?}", loaded.diagnostics)).system
}

/// What somebody outside might ask about: how many processes there are, one of the variables, one of the labels.
fn looked(system: &System, nth: usize) -> Vec<Expr> {
    let equals = |e, n| Expr::Binary(BinOp::Eq, Box::new(e), Box::new(Expr::Const(n)));
    let mut all = vec![equals(Expr::NrPr, 2)];
    for (id, var) in system.globals.vars.enumerated() {
        if let Shape::Scalar(ty) = var.shape
            && ty != Type::Chan
            && !var.hidden
        {
            all.push(equals(Expr::Read(Place { scope: Scope::Global, var: id, slot: var.slot, ty, index: vec![] }), 1));
        }
    }
    for (proctype, t) in system.proctypes.enumerated() {
        for (loc, l) in t.locs.enumerated() {
            let at = |label: &String| Expr::AtLabel { proctype, pid: None, loc, label: label.clone() };
            all.extend(l.labels.iter().map(at));
        }
    }
    vec![all.swap_remove(nth % all.len())]
}

/// Tries out what is selected in the states near the initial one. Whether those were all states.
fn audit(reduced: &Reduced<Interp>) -> bool {
    let Ok(initial) = reduced.initial() else { return true };
    let mut key = Vec::new();
    reduced.pack(&initial, &mut key);
    let (mut seen, mut todo) = (BTreeSet::from([key.clone()]), std::collections::VecDeque::from([key]));
    while let Some(key) = todo.pop_front() {
        let mut batch = reduced.batch();
        reduced.expand(&mut reduced.unpack(&key), &mut batch);
        for key in batch.outcomes.iter().filter_map(|o| batch.key(o)) {
            if seen.insert(key.to_vec()) {
                todo.push_back(key.to_vec());
            }
        }
        if seen.len() > MOST {
            return false;
        }
    }
    true
}

/// Every way to reduce one system.
fn audit_all(name: &str, system: &Arc<System>, nth: usize) -> u64 {
    let mut n = 0;
    let props = looked(system, nth);
    let watched = Watched { exprs: &props, params: true, ..Watched::default() };
    let smaller = Arc::new(optimise(system, Optimisations::ALL, &watched).0);
    for (optimised, system) in [(false, system), (true, &smaller)] {
        for selector in [Selector::Ample, Selector::Stubborn, Selector::Leap] {
            let apart: Vec<Vec<u32>> = (0..props.len() as u32).map(|n| vec![n]).collect();
            let ways =
                [(&[][..], false, None), (&props, false, None), (&props, true, None), (&props, true, Some(apart))];
            for (looked, fair, parts) in ways {
                if fair && selector.leaps() {
                    continue;
                }
                // for a panic
                println!("{name} {selector:?} optimised {optimised} looked at {} fair {fair}: {parts:?}", looked.len());
                let reduction = || {
                    let reduction = Reduction::new(system.clone(), selector, looked, fair);
                    parts.iter().fold(reduction, |reduction, parts| reduction.in_parts(parts))
                };
                let audited = Arc::new(reduction().audited_if(true));
                let exec = Arc::new(Interp::looking(system.clone(), looked));
                let reduced = Reduced::new(exec.clone(), audited.clone(), Proviso::Loops);
                let all = audit(&reduced);
                n += audited.n_audited();
                // What a leap leaves out it may have beside the state's other leaps.
                if all && !selector.leaps() {
                    let reduced = Reduced::new(exec, Arc::new(reduction()), Proviso::Loops);
                    assert_eq!(skipped(&reduced), None, "{name}: a cycle without a full state");
                }
            }
        }
    }
    n
}

#[test]
fn selections_of_random_models_are_what_they_must_be() {
    let mut n = 0;
    for seed in seeds(0..40) {
        let system = system("m.pml", &spinor_gen::generate_own(seed).text);
        if refusal(&system).is_none() {
            n += audit_all(&format!("seed {seed}"), &system, seed as usize);
        }
    }
    println!("{n} selections");
    assert!(n > 1000, "{n} selections");
}

#[test]
fn selections_of_the_corpus_are_what_they_must_be() {
    let mut n = 0;
    for (nth, path) in spinor_gen::corpus::models(&["pml"]).iter().enumerate() {
        let name = path.file_name().expect("a name").to_string_lossy();
        let system = system(&name, &std::fs::read_to_string(path).expect("a model"));
        if refusal(&system).is_none() {
            n += audit_all(&name, &system, nth);
        }
    }
    println!("{n} selections");
    assert!(n > 1000, "{n} selections");
}

/// What breaks if a condition is missing is found where it is missing.
#[test]
fn a_selection_that_is_none_is_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conditions");
    let mut quiet = Vec::new();
    // That a run is fair is seen by a search alone. Phases are no selections, and what makes progress is seen by a search alone; operations are in formulas only.
    let beyond = [
        Condition::Added,
        Condition::Operation,
        Condition::Yet,
        Condition::Stutters,
        Condition::Still,
        Condition::Enters,
        Condition::AtLabel,
        Condition::Extension,
        Condition::OneSeen,
        Condition::OneMade,
        Condition::Reception,
        Condition::Overflow,
    ];
    let about = |c: &Condition| !beyond.contains(c);
    for condition in Condition::ALL.into_iter().filter(about) {
        let name = format!("{condition:?}");
        let system = system(&name, &std::fs::read_to_string(folder.join(format!("{name}.pml"))).expect("a model"));
        // One part has to see two steps that have nothing else to do with each other.
        let second = looked(&system, 2).into_iter().filter(|_| condition == Condition::Part);
        let props: Vec<Expr> = looked(&system, 1).into_iter().chain(second).collect();
        let told = [(&[][..], false), (&props, false), (&props, true)].into_iter().any(|(looked, fair)| {
            let reduction = Reduction::new(system.clone(), Selector::Stubborn, looked, fair).without(condition);
            let all = [(0..looked.len() as u32).collect()];
            let reduction = if condition == Condition::Part && fair { reduction.in_parts(&all) } else { reduction };
            let exec = Arc::new(Interp::looking(system.clone(), looked));
            let reduced = Reduced::new(exec, Arc::new(reduction.audited_if(true)), Proviso::Loops);
            let audited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| audit(&reduced)));
            let cycle = matches!(condition, Condition::Cycle | Condition::Fed | Condition::Made);
            audited.is_err() || cycle && skipped(&reduced).is_some()
        });
        if !told {
            quiet.push(name);
        }
    }
    assert_eq!(quiet, Vec::<String>::new(), "not noticed");
}
