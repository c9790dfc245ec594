//! Random formulas, each with its negation: simplified formulas, automata as translated, reduced, with one mark and state-based
//! all say the same, and what the formula says on a lasso.
//!
//! More seeds: `SPINOR_SEEDS=0..10000 cargo test --release -p spinor-ltl --test random`.

mod common;

use common::{Rng, formula, seeds, word};
use spinor_ltl::*;

const LASSOS: usize = 30;

struct Forms {
    all: [(&'static str, Automaton); 6],
}

fn forms(f: &Formula) -> Forms {
    let translated = translate(f, Limits::default()).unwrap();
    let reduced = reduce(&translated);
    let one = degeneralise(&reduced);
    let states = state_based(&reduced);
    assert!(reduced.n_states() <= translated.n_states());
    assert!(one.n_marks <= 1 && states.is_state_based());
    let best = automaton(f, Limits::default()).unwrap();
    let best_states = buchi_automaton(f, Limits::default()).unwrap();
    assert!(best.n_states() <= reduced.n_states());
    assert!(best_states.n_states() <= states.n_states() && best_states.is_state_based());
    Forms {
        all: [
            ("translated", translated),
            ("reduced", reduced),
            ("one mark", one),
            ("state-based", states),
            ("best", best),
            ("best state-based", best_states),
        ],
    }
}

fn check(f: &Formula, n_props: u64, rng: &mut Rng) {
    let not_f = Formula::Not(Box::new(f.clone()));
    let (simple, simple_not) = (simplify(f), simplify(&not_f));
    let (yes, no) = (forms(f), forms(&not_f));
    for (name, a) in &yes.all {
        for (not_name, b) in &no.all {
            let one_is_translated = *name == "translated" || *not_name == "translated";
            if one_is_translated || name == not_name {
                assert!(is_empty(&product(a, b)), "{name} and {not_name} of the negation both accept something");
            }
        }
    }
    for _ in 0..LASSOS {
        let (stem, cycle) = (rng.below(5), 1 + rng.below(4));
        let (stem, cycle) = (word(rng, stem, n_props), word(rng, cycle, n_props));
        let truth = eval_lasso(f, &stem, &cycle).holds();
        let on = || format!("on {stem:?} {cycle:?}, which the formula makes {truth}");
        assert_eq!(eval_lasso(&simple, &stem, &cycle).holds(), truth, "simplified {simple} {}", on());
        assert_eq!(eval_lasso(&simple_not, &stem, &cycle).holds(), !truth, "simplified {simple_not} {}", on());
        for ((name, a), (_, b)) in yes.all.iter().zip(&no.all) {
            assert_eq!(accepts_lasso(a, &stem, &cycle), truth, "{name} {}", on());
            assert_eq!(accepts_lasso(b, &stem, &cycle), !truth, "{name} of the negation {}", on());
        }
    }
}

#[test]
fn all_forms_of_a_formula_agree() {
    for seed in seeds(0..4_000) {
        let mut rng = Rng::new(seed);
        let n_props = 2 + rng.below(3);
        let size = 2 + rng.below(16);
        let f = formula(&mut rng, size, n_props, true);
        let run = std::panic::AssertUnwindSafe(|| check(&f, n_props, &mut rng));
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("seed {seed}: {f}");
            std::panic::resume_unwind(panic);
        }
    }
}
