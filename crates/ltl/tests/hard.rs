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

/// `n` of them, joined.
fn joined(n: usize, with: &str, part: impl Fn(usize) -> String) -> String {
    let parts: Vec<String> = (0..n).map(|i| format!("({})", part(i))).collect();
    format!("({})", parts.join(with))
}

fn often(n: usize, p: &str) -> String {
    joined(n, " && ", |i| format!("[]<> {p}{i}"))
}

#[test]
fn sixteen_of_what_users_write() {
    assert_eq!(sizes(&often(16, "p")), [16, 1, 16, 17]);
    assert_eq!(sizes(&format!("!{}", often(16, "p"))), [17, 1, 17, 17]);
    let responses = joined(16, " && ", |i| format!("[] (p{i} -> <> q{i})"));
    assert_eq!(sizes(&format!("!{responses}")), [17, 1, 17, 17]);
    let precedences = joined(16, " && ", |i| format!("(!p{i}) W s{i}"));
    assert_eq!(sizes(&format!("!{precedences}")), [18, 1, 18, 18]);
    let steps = joined(16, " && ", |i| format!("[] (p{i} -> X q{i})"));
    assert_eq!(sizes(&format!("!{steps}")), [18, 1, 18, 18]);
    let game = format!("({} -> {})", often(16, "p"), often(16, "q"));
    assert_eq!(sizes(&game), [33, 1, 33, 34]);
    assert_eq!(sizes(&format!("!{game}")), [257, 1, 257, 273]);
}

/// Above ten conditions they are waited for in turn; other parts of the formula stay as they are.
#[test]
fn what_is_waited_for_in_turn_says_the_same() {
    for rest in ["true", "<>[] q", "[] (q -> <> p0)", "(q U p1) && [] (p0 || q || X p2)", "(X q) || []<> q"] {
        for text in [format!("({}) && ({rest})", often(12, "p")), format!("({}) || ({rest})", often(12, "p"))] {
            let mut names: Vec<String> = (0..12).map(|n| format!("p{n}")).collect();
            let f = parse(&text, &mut names);
            let made = [automaton(&f, Limits::default()).unwrap(), buchi_automaton(&f, Limits::default()).unwrap()];
            assert!(made.iter().all(|a| a.n_marks < 12), "{text}");
            let not = automaton(&Formula::Not(Box::new(f.clone())), Limits::default()).unwrap();
            let mut rng = common::Rng::new(12);
            let mut accepted = 0;
            for _ in 0..400 {
                let (stem, cycle) = (rng.below(4), 1 + rng.below(4));
                let stem = common::word(&mut rng, stem, 13);
                let mut cycle = common::word(&mut rng, cycle, 13);
                // Usually all of them hold somewhere; a word at random would seldom do.
                let missing = rng.below(20) as u32;
                let at = rng.below(cycle.len() as u64) as usize;
                for p in (0..12).filter(|&p| p != missing) {
                    cycle[at].set(PropId(p), true);
                }
                let truth = eval_lasso(&f, &stem, &cycle).holds();
                accepted += truth as u32;
                for a in &made {
                    assert_eq!(accepts_lasso(a, &stem, &cycle), truth, "{text} on {stem:?} {cycle:?}");
                }
            }
            assert!(accepted > 20, "{text}: {accepted}");
            assert!(is_empty(&product(&made[0], &not)), "{text}");
        }
    }
}

/// Some have no small automaton: they are refused, in time.
#[test]
fn what_is_too_large_is_refused_soon() {
    let many = [
        joined(16, " && ", |i| format!("[] (p{i} -> <> q{i})")),
        joined(12, " && ", |i| format!("[] (p{i} -> <> (q{i} && <> r{i}))")),
        joined(16, " && ", |i| format!("([]<> p{i}) -> ([]<> q{i})")),
        joined(24, " && ", |i| format!("[] (p{i} -> X X q{i})")),
        joined(16, " || ", |i| format!("([]<> p{i}) && (<> q{i})")).replace("<> q", "X <> q"),
        format!("!{}", joined(16, " || ", |i| format!("[] (p{i} -> <> q{i})"))),
    ];
    let mut refused = 0;
    for text in many {
        let f = parse(&text, &mut Vec::new());
        let start = std::time::Instant::now();
        refused += automaton(&f, Limits::default()).is_err() as u32;
        refused += buchi_automaton(&f, Limits::default()).is_err() as u32;
        let _ = is_stutter_invariant(&f, Limits::default());
        println!("{:?}: {text}", start.elapsed());
        // Ten times what it takes alone and optimised: others may be at work, and assertions are on.
        assert!(start.elapsed().as_secs() < 60, "{text}");
    }
    assert!(refused >= 8, "{refused}");
}

#[test]
fn a_deadline_ends_a_translation() {
    let responses = joined(16, " && ", |i| format!("[] (p{i} -> <> q{i})"));
    let f = parse(&responses, &mut Vec::new());
    let start = std::time::Instant::now();
    let limits = Limits { steps: u64::MAX, bytes: usize::MAX, until: Some(start), ..Limits::default() };
    assert!(automaton(&f, limits).is_err());
    assert!(start.elapsed().as_secs() < 2);
}

#[test]
fn memory_ends_a_translation() {
    let responses = joined(8, " && ", |i| format!("[] (p{i} -> <> q{i})"));
    let f = parse(&responses, &mut Vec::new());
    assert!(translate(&f, Limits { bytes: 1 << 20, ..Limits::default() }).is_err());
}

#[test]
fn what_is_too_large_says_so() {
    let responses: Vec<String> = (0..40).map(|n| format!("([] (p{n} -> <> q{n}))")).collect();
    let f = parse(&responses.join(" && "), &mut Vec::new());
    let limits = Limits { states: 100, transitions: 1_000, ..Limits::default() };
    let said = translate(&f, limits).unwrap_err().to_string();
    assert!(said.contains("41 temporal operators") && said.contains("one by one"), "{said}");
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
