//! Random formulas and lassos from seeds, and readers for formulas and never claims in SPIN's notation.

#![allow(dead_code, reason = "each test file uses a part")]

use spinor_ltl::{Automaton, Formula, Guard, Guards, Marks, PropId, StateId, Transition, Valuation, from_hoa};
use std::fmt::Write;

/// splitmix64
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Rng {
        let mut rng = Rng(seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x1F0_2A07);
        rng.next();
        rng
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A formula with `size` operators and leaves over `n_props` propositions.
pub fn formula(rng: &mut Rng, size: u64, n_props: u64, with_next: bool) -> Formula {
    if size <= 1 {
        return match rng.below(20) {
            0 => Formula::True,
            1 => Formula::False,
            _ => Formula::Prop(PropId(rng.below(n_props) as u32)),
        };
    }
    if size == 2 || rng.below(3) == 0 {
        let a = Box::new(formula(rng, size - 1, n_props, with_next));
        return match rng.below(if with_next { 7 } else { 6 }) {
            0 | 1 => Formula::Not(a),
            2 | 3 => Formula::Always(a),
            4 | 5 => Formula::Eventually(a),
            _ => Formula::Next(a),
        };
    }
    let left = 1 + rng.below(size - 2);
    let a = Box::new(formula(rng, left, n_props, with_next));
    let b = Box::new(formula(rng, size - 1 - left, n_props, with_next));
    match rng.below(12) {
        0..=2 => Formula::And(a, b),
        3..=5 => Formula::Or(a, b),
        6 => Formula::Implies(a, b),
        7 => Formula::Equivalent(a, b),
        8 | 9 => Formula::Until(a, b),
        10 => Formula::WeakUntil(a, b),
        _ => Formula::Release(a, b),
    }
}

/// A formula whose parts recur: rules about formulas that share operands seldom meet those of `formula`.
pub fn recurring(rng: &mut Rng, n_props: u64) -> Formula {
    let mut parts = Vec::new();
    for _ in 0..3 {
        let size = 1 + rng.below(2);
        parts.push(formula(rng, size, n_props, true));
    }
    for _ in 0..2 + rng.below(5) {
        let mut pick = || Box::new(parts[rng.below(parts.len() as u64) as usize].clone());
        let (a, b) = (pick(), pick());
        parts.push(match rng.below(10) {
            0 | 1 => Formula::And(a, b),
            2 | 3 => Formula::Or(a, b),
            4 | 5 => Formula::Until(a, b),
            6 | 7 => Formula::WeakUntil(a, b),
            8 => Formula::Release(a, b),
            _ => Formula::Not(a),
        });
    }
    let b = parts.pop().expect("at least five");
    let a = parts.pop().expect("at least five");
    if rng.below(2) == 0 { Formula::And(Box::new(a), Box::new(b)) } else { Formula::Or(Box::new(a), Box::new(b)) }
}

/// An automaton with up to `n_states` states and up to two marks.
pub fn automaton(rng: &mut Rng, n_states: u64, n_props: u64) -> Automaton {
    let n_states = 1 + rng.below(n_states) as u32;
    let n_marks = rng.below(3) as u32;
    let mut guards = Guards::new();
    let mut states = Vec::new();
    for _ in 0..n_states {
        let mut transitions: Vec<Transition> = Vec::new();
        for _ in 0..1 + rng.below(4) {
            let mut guard = Guard::TRUE;
            for c in 0..n_props as u32 {
                let column = guards.column(c);
                guard = match rng.below(3) {
                    0 => guards.and(guard, column),
                    1 => guards.minus(guard, column),
                    _ => guard,
                };
            }
            let target = StateId(rng.below(n_states as u64) as u32);
            let marks = Marks(rng.below(1 << n_marks));
            if !transitions.iter().any(|t| (t.target, t.marks) == (target, marks)) {
                transitions.push(Transition { target, marks, guard });
            }
        }
        states.push(transitions);
    }
    let initial = (0..1 + rng.below(2).min(n_states as u64 - 1) as u32).map(StateId).collect();
    Automaton { props: (0..n_props as u32).map(PropId).collect(), guards, initial, states, n_marks }
}

/// The word with some letters repeated.
pub fn stuttered(word: &[Valuation], rng: &mut Rng) -> Vec<Valuation> {
    word.iter().flat_map(|v| vec![v.clone(); 1 + rng.below(3) as usize]).collect()
}

pub fn word(rng: &mut Rng, length: u64, n_props: u64) -> Vec<Valuation> {
    // A word with rare changes shows other things than one with many.
    let keep = rng.below(3);
    let mut word: Vec<Valuation> = Vec::new();
    for _ in 0..length {
        match word.last() {
            Some(last) if rng.below(3) < keep => word.push(last.clone()),
            _ => word.push(Valuation::new((0..n_props as u32).map(PropId).filter(|_| rng.below(2) == 0))),
        }
    }
    word
}

pub fn seeds(usual: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let given = std::env::var("SPINOR_SEEDS").ok();
    let range = given.as_deref().and_then(|s| s.split_once("..")).map(|(a, b)| (a.parse(), b.parse()));
    match range {
        Some((Ok(from), Ok(to))) => from..to,
        _ => usual,
    }
}

/// A formula in SPIN's notation: propositions are lower-case names, `names[n]` becomes proposition `n`. Binary
/// operators all bind alike, to the left, so whoever means otherwise writes parentheses.
pub fn parse(text: &str, names: &mut Vec<String>) -> Formula {
    let mut parser = Parser { rest: text, names };
    let formula = parser.binary();
    assert_eq!(parser.rest.trim(), "", "in {text}");
    formula
}

struct Parser<'a, 'n> {
    rest: &'a str,
    names: &'n mut Vec<String>,
}

impl Parser<'_, '_> {
    fn take(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn binary(&mut self) -> Formula {
        let mut left = Box::new(self.unary());
        type Join = fn(Box<Formula>, Box<Formula>) -> Formula;
        let operators: [(&str, Join); 7] = [
            ("&&", Formula::And),
            ("||", Formula::Or),
            ("->", Formula::Implies),
            ("<->", Formula::Equivalent),
            ("U", Formula::Until),
            ("W", Formula::WeakUntil),
            ("V", Formula::Release),
        ];
        while let Some((_, join)) = operators.iter().find(|(token, _)| self.take(token)) {
            left = Box::new(join(left, Box::new(self.unary())));
        }
        *left
    }

    fn unary(&mut self) -> Formula {
        if self.take("(") {
            let inner = self.binary();
            assert!(self.take(")"), "at {}", self.rest);
            return inner;
        }
        for (token, make) in [
            ("!", Formula::Not as fn(Box<Formula>) -> Formula),
            ("[]", Formula::Always),
            ("<>", Formula::Eventually),
            ("X", Formula::Next),
        ] {
            if self.take(token) {
                return make(Box::new(self.unary()));
            }
        }
        let end = self.rest.find(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        assert!(!name.is_empty(), "at {}", self.rest);
        self.rest = rest;
        match name {
            "true" | "1" => return Formula::True,
            "false" => return Formula::False,
            _ => {}
        }
        let n = self.names.iter().position(|n| n == name).unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.names.len() - 1
        });
        Formula::Prop(PropId(n as u32))
    }
}

/// The states of a never claim: several labels in a row are of one state.
pub fn n_states(claim: &str) -> usize {
    states(claim).len()
}

/// Labels and statements of each state.
fn states(claim: &str) -> Vec<(Vec<&str>, Vec<&str>)> {
    let mut states: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for line in claim.lines().skip(1).filter(|l| *l != "}") {
        match line.strip_suffix(':') {
            Some(label) if !line.starts_with('\t') => match states.last_mut() {
                Some((labels, statements)) if statements.is_empty() => labels.push(label),
                _ => states.push((vec![label], Vec::new())),
            },
            _ => states.last_mut().expect("a label comes first").1.push(line.trim()),
        }
    }
    states
}

/// What a never claim accepts, in the layout of SPIN and of ours.
pub fn of_claim(claim: &str, names: &[String]) -> Automaton {
    let states = states(claim);
    let number = |label: &str| states.iter().position(|(labels, _)| labels.contains(&label)).expect("a label");
    let mut known = names.to_vec();
    let mut hoa = format!("HOA: v1 Start: 0 AP: {}", names.len());
    for name in names {
        let _ = write!(hoa, " \"{name}\"");
    }
    hoa.push_str(" Acceptance: 1 Inf(0) --BODY--\n");
    for (n, (labels, statements)) in states.iter().enumerate() {
        let accepting = labels.iter().any(|l| l.starts_with("accept"));
        let _ = writeln!(hoa, "State: {n} {}", if accepting { "{0}" } else { "" });
        for statement in statements {
            let (condition, target) = match *statement {
                "do" | "od;" | "false;" | ":: false" => continue,
                "skip" => ("true", n),
                _ => {
                    let option = statement.strip_prefix(":: ").expect("an option");
                    match option.strip_prefix("atomic { ") {
                        Some(rest) => (rest.split_once(" -> ").expect("an arrow").0, number("accept_all")),
                        None => {
                            let (condition, label) =
                                option.split_once(" -> goto ").unwrap_or_else(|| panic!("a jump in {claim}"));
                            (condition, number(label))
                        }
                    }
                }
            };
            let _ = writeln!(hoa, "[{}] {target}", label(&parse(condition, &mut known)));
        }
    }
    hoa.push_str("--END--");
    assert_eq!(known, names);
    from_hoa(&hoa).unwrap_or_else(|e| panic!("{e}\n{hoa}")).automaton
}

fn label(f: &Formula) -> String {
    match f {
        Formula::True => "t".to_string(),
        Formula::False => "f".to_string(),
        Formula::Prop(p) => p.0.to_string(),
        Formula::Not(a) => format!("!({})", label(a)),
        Formula::And(a, b) => format!("({})&({})", label(a), label(b)),
        Formula::Or(a, b) => format!("({})|({})", label(a), label(b)),
        _ => panic!("{f} is not a condition"),
    }
}
