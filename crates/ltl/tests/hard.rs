//! Sizes: of formulas that are exponential for simple translations (fairness of many, nested untils, many
//! propositions), and of the specification patterns, so that a reduction that is lost is missed.

mod common;
#[path = "common/patterns.rs"]
mod patterns;

use common::parse;
use spinor_ltl::*;

/// States and marks of the automaton, states of it with one mark, states of the Büchi automaton.
fn sizes(text: &str) -> [usize; 4] {
    let f = parse(text, &mut Vec::new());
    let start = std::time::Instant::now();
    let a = automaton(&f, Limits::default()).unwrap();
    let automaton = start.elapsed();
    let (one, states) = (degeneralise(&a), buchi_automaton(&f, Limits::default()).unwrap());
    println!("{automaton:?}, all three {:?}, {} transitions: {text}", start.elapsed(), a.n_transitions());
    [a.n_states(), a.n_marks as usize, one.n_states(), states.n_states()]
}

#[test]
fn fairness_of_ten_implies_a_response() {
    let often: Vec<String> = (1..=10).map(|n| format!("([]<> p{n})")).collect();
    let fair = format!("(({}) -> []<> q)", often.join(" && "));
    assert_eq!(sizes(&fair), [13, 1, 13, 14]);
    assert_eq!(sizes(&format!("!{fair}")), [2, 10, 11, 12]);
}

#[test]
fn ten_nested_untils() {
    let right = (1..=9).rev().fold("p10".to_string(), |inner, n| format!("(p{n} U {inner})"));
    assert_eq!(sizes(&right), [10, 1, 10, 10]);
    assert_eq!(sizes(&format!("!{right}")), [10, 0, 10, 10]);
    let left = (2..=10).fold("p1".to_string(), |inner, n| format!("({inner} U p{n})"));
    assert_eq!(sizes(&left), [512, 1, 512, 512]);
    assert_eq!(sizes(&format!("!{left}")), [10, 0, 10, 10]);
}

#[test]
fn more_than_64_propositions_and_untils() {
    let all: Vec<String> = (0..100).map(|n| format!("p{n}")).collect();
    let f = parse(&format!("[] ({})", all.join(" && ")), &mut Vec::new());
    let a = automaton(&f, Limits::default()).unwrap();
    let every = Valuation::new((0..100).map(PropId));
    let mut all_but_one = every.clone();
    all_but_one.set(PropId(77), false);
    assert!(accepts_lasso(&a, &[], std::slice::from_ref(&every)));
    assert!(!accepts_lasso(&a, &[every], &[all_but_one]));
    let chain = (0..100).rev().fold("true".to_string(), |inner, n| format!("<> (p{n} && {inner})"));
    assert_eq!(sizes(&chain), [101, 1, 101, 101]);
}

#[test]
fn what_is_too_large_says_so() {
    let responses: Vec<String> = (0..40).map(|n| format!("([] (p{n} -> <> q{n}))")).collect();
    let f = parse(&responses.join(" && "), &mut Vec::new());
    let limits = Limits { states: 100, transitions: 1_000, ..Limits::default() };
    assert!(translate(&f, limits).unwrap_err().to_string().contains("one by one"));
}

#[test]
fn sizes_of_the_patterns() {
    let (mut states, mut transitions, mut marks, mut buchi, mut deterministic) = (0, 0, 0, 0, 0);
    for text in patterns::PATTERNS.iter().flat_map(|(_, scopes)| scopes) {
        let f = parse(text, &mut Vec::new());
        for f in [f.clone(), Formula::Not(Box::new(f))] {
            let a = automaton(&f, Limits::default()).unwrap();
            states += a.n_states();
            transitions += a.n_transitions();
            marks += a.n_marks;
            buchi += buchi_automaton(&f, Limits::default()).unwrap().n_states();
            deterministic += classify(&a).deterministic as u32;
        }
    }
    assert_eq!((states, transitions, marks, buchi, deterministic), (437, 1167, 77, 450, 87));
}
