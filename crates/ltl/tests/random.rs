//! Random formulas, each with its negation: simplified formulas, automata as translated, reduced, with one mark and
//! state-based all say the same, and what the formula says on a lasso.
//!
//! More seeds: `SPINOR_SEEDS=0..10000 cargo test --release -p spinor-ltl --test random`.

mod common;

use common::{Rng, formula, recurring, seeds, stuttered, word};
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
    for seed in seeds(0..3_000) {
        let mut rng = Rng::new(seed);
        let n_props = 2 + rng.below(3);
        let size = 2 + rng.below(16);
        let f = if seed % 2 == 0 { formula(&mut rng, size, n_props, true) } else { recurring(&mut rng, n_props) };
        let run = std::panic::AssertUnwindSafe(|| check(&f, n_props, &mut rng));
        if let Err(panic) = std::panic::catch_unwind(run) {
            eprintln!("seed {seed}: {f}");
            std::panic::resume_unwind(panic);
        }
    }
}

/// Every rule of simplification meets its operands here: two small formulas under each operator.
#[test]
fn small_formulas_are_simplified_to_equal_ones() {
    let p = |n| Formula::Prop(PropId(n));
    let leaves = [p(0), p(1), p(2), Formula::Not(Box::new(p(0))), Formula::And(Box::new(p(0)), Box::new(p(1)))];
    let boxes = || leaves.iter().cloned().map(Box::new);
    let mut small: Vec<Formula> = leaves.to_vec();
    for a in boxes() {
        small.extend([Formula::Next(a.clone()), Formula::Always(a.clone()), Formula::Eventually(a.clone())]);
        small.push(Formula::Always(Box::new(Formula::Eventually(a.clone()))));
        small.push(Formula::Eventually(Box::new(Formula::Always(a.clone()))));
        small.push(Formula::Next(Box::new(Formula::Always(a.clone()))));
        small.push(Formula::Next(Box::new(Formula::Eventually(a.clone()))));
        for b in boxes() {
            small.push(Formula::Until(a.clone(), b.clone()));
            small.push(Formula::WeakUntil(a.clone(), b.clone()));
            small.push(Formula::Release(a.clone(), b));
        }
    }
    let mut rng = Rng::new(0);
    let lassos: Vec<(Vec<Valuation>, Vec<Valuation>)> = (0..12)
        .map(|_| {
            let (stem, cycle) = (rng.below(4), 1 + rng.below(3));
            (word(&mut rng, stem, 3), word(&mut rng, cycle, 3))
        })
        .collect();
    for a in &small {
        for b in &small {
            for join in [Formula::And, Formula::Or, Formula::Until, Formula::WeakUntil] {
                let f = join(Box::new(a.clone()), Box::new(b.clone()));
                let simple = simplify(&f);
                for (stem, cycle) in &lassos {
                    let same = eval_lasso(&f, stem, cycle).holds() == eval_lasso(&simple, stem, cycle).holds();
                    assert!(same, "{f} is not {simple} on {stem:?} {cycle:?}");
                }
            }
        }
    }
}

#[test]
fn what_is_called_stutter_invariant_does_not_see_repetitions() {
    let (mut invariant, mut seen, mut unseen) = (0, 0, 0);
    for seed in seeds(0..1_000) {
        let mut rng = Rng::new(seed);
        let size = 4 + rng.below(8);
        let f = formula(&mut rng, size, 2, true);
        if !simplify(&f).has_next() {
            continue;
        }
        let is_invariant = is_stutter_invariant(&f, Limits::default()).unwrap();
        let differs = (0..200).any(|_| {
            let (stem, cycle) = (rng.below(4), 1 + rng.below(3));
            let (stem, cycle) = (word(&mut rng, stem, 2), word(&mut rng, cycle, 2));
            let (long_stem, long_cycle) = (stuttered(&stem, &mut rng), stuttered(&cycle, &mut rng));
            eval_lasso(&f, &stem, &cycle).holds() != eval_lasso(&f, &long_stem, &long_cycle).holds()
        });
        assert!(!(is_invariant && differs), "seed {seed}: {f}");
        match (is_invariant, differs) {
            (true, _) => invariant += 1,
            (false, true) => seen += 1,
            (false, false) => {
                unseen += 1;
                println!("seed {seed}: no witness that {f} sees repetitions");
            }
        }
    }
    // Two hundred tries find nearly every difference that there is.
    println!("{invariant} {seen} {unseen}");
    assert!(seen > 10 * unseen, "{invariant} {seen} {unseen}");
}
