//! Never claims: the layout, and that the text accepts what the formula says.

mod common;

use common::{Rng, formula, of_claim, parse, word};
use spinor_ltl::*;

fn claim(text: &str) -> String {
    let mut names = Vec::new();
    let f = parse(text, &mut names);
    let automaton = buchi_automaton(&f, Limits::default()).unwrap();
    to_never(&automaton, text, |p| names[p.0 as usize].clone())
}

#[test]
fn layout() {
    assert_eq!(
        claim("<> p"),
        "never  {    /* <> p */
T0_init:
\tdo
\t:: (!(p)) -> goto T0_init
\t:: ((p)) -> goto accept_all
\tod;
accept_all:
\tskip
}
"
    );
    assert_eq!(
        claim("[] (p || !q)"),
        "never  {    /* [] (p || !q) */
accept_init:
\tdo
\t:: (!(q) || (p)) -> goto accept_init
\tod;
}
"
    );
    assert_eq!(claim("p && !p"), "never  {    /* p && !p */\nT0_init:\n\tfalse;\n}\n");
    assert_eq!(claim("p || !p"), "never  {    /* p || !p */\naccept_all:\n\tskip\n}\n");
}

#[test]
fn an_end_of_a_comment_in_the_title_is_harmless() {
    let a = automaton(&Formula::True, Limits::default()).unwrap();
    assert!(to_never(&a, "*/", |_| String::new()).starts_with("never  {    /* * / */\n"));
}

#[test]
fn several_initial_states_become_one() {
    let text = "HOA: v1 Start: 0 Start: 1 AP: 2 \"p\" \"q\" Acceptance: 0 t --BODY--
        State: 0 [0] 0 State: 1 [1] 1 --END--";
    let a = from_hoa(text).unwrap().automaton;
    let names = ["p", "q"].map(String::from);
    let claim = to_never(&a, "either", |p| names[p.0 as usize].clone());
    let f = parse("[] p || [] q", &mut names.to_vec());
    let not_f = translate(&Formula::Not(Box::new(f)), Limits::default()).unwrap();
    assert!(is_empty(&product(&of_claim(&claim, &names), &not_f)));
    assert_eq!(claim.matches("init:").count(), 1);
}

#[test]
fn claims_say_what_their_formulas_say() {
    let names = ["p", "q", "r"].map(String::from);
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let f = formula(&mut rng, 10, 3, true);
        // Not made state-based before: the text has to see to that.
        let a = automaton(&f, Limits::default()).unwrap();
        let claim = to_never(&a, "", |p| names[p.0 as usize].clone());
        let read = of_claim(&claim, &names);
        for _ in 0..20 {
            let (stem, cycle) = (rng.below(4), 1 + rng.below(4));
            let (stem, cycle) = (word(&mut rng, stem, 3), word(&mut rng, cycle, 3));
            let truth = eval_lasso(&f, &stem, &cycle).holds();
            assert_eq!(accepts_lasso(&read, &stem, &cycle), truth, "seed {seed}: {f}\n{claim}");
        }
    }
}
