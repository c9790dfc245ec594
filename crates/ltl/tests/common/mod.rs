//! Random formulas and lassos from seeds, and a reader for formulas in SPIN's notation.

#![allow(dead_code, reason = "each test file uses a part")]

use spinor_ltl::{Formula, PropId, Valuation};

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

/// A formula in SPIN's notation: propositions are lower-case names, `names[n]` becomes proposition `n`. Binary operators
/// all bind alike, to the left, so whoever means otherwise writes parentheses.
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
            "true" => return Formula::True,
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
