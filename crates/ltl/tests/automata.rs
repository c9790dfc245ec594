//! Complements, whether an automaton sees repetitions, and the form in which it plainly does not; of automata that come from
//! no formula too.
//!
//! More seeds: `SPINOR_SEEDS=0..10000 cargo test --release -p spinor-ltl --test automata`.

mod common;

use common::{Rng, automaton, formula, seeds, stuttered, word};
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

/// The form accepts what the automaton does, and what the other does not.
fn check_form(a: &Automaton, not: &Automaton, form: &Automaton, rng: &mut Rng, n_props: u64) {
    assert!(is_stutter_form(form));
    assert!(is_empty(&product(form, not)), "more than before");
    if let Ok(other) = complement(form, Limits { states: 1_000, steps: 1_000_000, ..Limits::default() }) {
        assert!(is_empty(&product(a, &other)), "less than before");
    }
    for _ in 0..60 {
        let (stem, cycle) = (rng.below(5), 1 + rng.below(4));
        let (stem, cycle) = (word(rng, stem, n_props), word(rng, cycle, n_props));
        let accepted = accepts_lasso(a, &stem, &cycle);
        assert_eq!(accepts_lasso(form, &stem, &cycle), accepted, "{stem:?} {cycle:?}");
    }
}

#[test]
fn the_stutter_form_of_a_formula_says_the_same() {
    let (mut states, mut form_states, mut as_it_was, mut too_large) = (0, 0, 0, 0);
    for seed in seeds(0..1_000) {
        let mut rng = Rng::new(seed);
        let size = 3 + rng.below(12);
        let f = formula(&mut rng, size, 3, false);
        let a = spinor_ltl::automaton(&f, Limits::default()).unwrap();
        let not = spinor_ltl::automaton(&Formula::Not(Box::new(f.clone())), Limits::default()).unwrap();
        let Some(form) = stutter_form(&a) else {
            println!("seed {seed}: {} states, {} transitions, no form: {f}", a.n_states(), a.n_transitions());
            too_large += 1;
            continue;
        };
        println!("seed {seed}: {f}: {} states, {} in the form", a.n_states(), form.n_states());
        check_form(&a, &not, &form, &mut rng, 3);
        states += a.n_states();
        form_states += form.n_states();
        as_it_was += is_stutter_form(&a) as usize;
    }
    println!("{states} states, {form_states} in the form, {as_it_was} in it as they were, {too_large} too large");
    assert!(form_states < 4 * states && too_large < 10);
}

#[test]
fn the_stutter_form_of_an_invariant_automaton_says_the_same() {
    let (mut n, mut changed) = (0, 0);
    for seed in seeds(0..2_000) {
        let mut rng = Rng::new(seed);
        let a = automaton(&mut rng, 4, 2);
        let limits = Limits { states: 1_000, ..Limits::default() };
        if !is_automaton_stutter_invariant(&a, limits).unwrap_or(false) || is_empty(&a) {
            continue;
        }
        let not = complement(&a, limits).unwrap();
        let form = stutter_form(&a).expect("four states and four letters are few");
        check_form(&a, &not, &form, &mut rng, 2);
        n += 1;
        changed += !is_stutter_form(&reduce(&a)) as usize;
    }
    println!("{n} automata, {changed} of them not in the form");
    assert!(n > 50 && changed > 20);
}

/// [Schoot7], example 7.2 and figure 7.1: two states; the first stays whatever comes and leaves where P holds and Q does not,
/// the second stays as long as Q does not hold, and is accepting. Over operations, P is "a happens" and Q is "b happens".
#[test]
fn the_negated_response_has_the_automaton_of_figure_7_1() {
    let prop = |n| Box::new(Formula::Prop(PropId(n)));
    let response = Formula::Always(Box::new(Formula::Implies(prop(0), Box::new(Formula::Eventually(prop(1))))));
    let a = buchi_automaton(&Formula::Not(Box::new(response)), Limits::default()).expect("a small automaton");
    assert_eq!((a.n_states(), a.initial.len(), a.n_marks), (2, 1, 1));
    let first = a.initial[0];
    let second = StateId(1 - first.0);
    for (p, q) in [(false, false), (false, true), (true, false), (true, true)] {
        let holds = [(PropId(0), p), (PropId(1), q)].into_iter().filter(|(_, holds)| *holds).map(|(p, _)| p);
        let bits = a.bits(&Valuation::new(holds));
        let to = |from| a.enabled(from, &bits).map(|t| (t.target, t.marks == a.all_marks())).collect::<Vec<_>>();
        let mut next = to(first);
        next.sort();
        assert!(next.contains(&(first, false)), "{p} {q}: {next:?}");
        assert_eq!(next.iter().any(|(to, _)| *to == second), p && !q, "{p} {q}: {next:?}");
        assert_eq!(to(second), if q { vec![] } else { vec![(second, true)] }, "{p} {q}");
    }
}
