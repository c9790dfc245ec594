//! Automata that come from no formula: their complements, and whether they see repetitions.
//!
//! More seeds: `SPINOR_SEEDS=0..10000 cargo test --release -p spinor-ltl --test automata`.

mod common;

use common::{Rng, automaton, seeds, stuttered, word};
use spinor_ltl::*;

#[test]
fn a_word_is_accepted_by_an_automaton_or_by_its_complement() {
    let (mut known, mut unknown, mut ranked) = (0, 0, 0);
    for seed in seeds(0..2_000) {
        let mut rng = Rng::new(seed);
        let a = automaton(&mut rng, 4, 2);
        let limits = Limits { states: 3_000, transitions: 30_000, ..Limits::default() };
        let Ok(not) = complement(&a, limits) else {
            unknown += 1;
            continue;
        };
        known += 1;
        ranked += !classify(&reduce(&a)).deterministic as u32;
        assert!(is_empty(&product(&a, &not)), "seed {seed}");
        for _ in 0..40 {
            let (stem, cycle) = (rng.below(4), 1 + rng.below(4));
            let (stem, cycle) = (word(&mut rng, stem, 2), word(&mut rng, cycle, 2));
            let both = [accepts_lasso(&a, &stem, &cycle), accepts_lasso(&not, &stem, &cycle)];
            assert!(both[0] != both[1], "seed {seed}: {both:?} on {stem:?} {cycle:?}");
        }
    }
    println!("{known} complements, {ranked} of them by ranks, {unknown} too large");
    assert!(known > 50 * unknown && 4 * ranked > known);
}

#[test]
fn an_automaton_that_is_called_stutter_invariant_does_not_see_repetitions() {
    let (mut invariant, mut seen, mut unseen, mut unknown) = (0, 0, 0, 0);
    for seed in seeds(0..2_000) {
        let mut rng = Rng::new(seed);
        let a = automaton(&mut rng, 4, 2);
        let Ok(answer) = is_automaton_stutter_invariant(&a, Limits { states: 3_000, ..Limits::default() }) else {
            unknown += 1;
            continue;
        };
        let differs = (0..300).any(|_| {
            let (stem, cycle) = (rng.below(4), 1 + rng.below(3));
            let (stem, cycle) = (word(&mut rng, stem, 2), word(&mut rng, cycle, 2));
            let (long_stem, long_cycle) = (stuttered(&stem, &mut rng), stuttered(&cycle, &mut rng));
            accepts_lasso(&a, &stem, &cycle) != accepts_lasso(&a, &long_stem, &long_cycle)
        });
        assert!(!(answer && differs), "seed {seed}");
        match (answer, differs) {
            (true, _) => invariant += 1,
            (false, true) => seen += 1,
            (false, false) => unseen += 1,
        }
    }
    println!("{invariant} invariant, {seen} not, {unseen} not without a witness, {unknown} not known");
    assert!(invariant > 100 && seen > 20 * unseen && seen > 20 * unknown);
}
