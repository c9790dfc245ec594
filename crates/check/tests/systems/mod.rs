//! Small random systems: processes as graphs of a few locations, with handshakes, a channel with one slot, `else`,
//! `unless` and two variables that formulas look at.

use spinor_check::claim::{Claim, Marking};
use spinor_check::cycles::product::Product;
use spinor_check::cycles::{Fairness, Lasso, Moves, Runs, Summary, oracle};
use spinor_check::verdict::Kind;
use spinor_lang::{Options, load};
use spinor_model::interp::Interp;
use spinor_model::ir::System;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What is asked of a system.
pub enum Question {
    Finite(Kind),
    Endless(Box<Claim>, Fairness),
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Finite(kind) => write!(f, "{kind}"),
            Question::Endless(claim, fairness) => {
                write!(f, "an automaton of {} states, fairness {}", claim.automaton.n_states(), fairness.word())
            }
        }
    }
}

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x ^ x >> 31) % n
    }

    fn of<'a>(&mut self, some: &[&'a str]) -> &'a str {
        some[self.below(some.len() as u64) as usize]
    }
}

const HEAD: &str = "chan c = [0] of { bit }; chan d = [0] of { bit }; chan q = [1] of { bit };\nbit g; bit b;\n";
const FORMULAS: [&str; 6] = ["<> b", "[]<> g", "<>[] b", "[] (g -> <> b)", "[]<> b -> []<> g", "b U g"];
const LOCAL: [&str; 2] = ["skip", "x = 1 - x"];
const SHARED: [&str; 9] = ["g = 1", "g = 1 - g", "b = 1", "b = 1 - b", "g == 1", "g == 0", "q!0", "q?_", "q?0"];
const SENDS: [&str; 4] = ["c!0", "c!1", "d!0", "c!x"];
const TAKES: [&str; 5] = ["c?0", "c?1", "c?_", "d?_", "c?eval(x)"];

/// The text of a system.
fn text(rng: &mut Rng) -> String {
    let mut out = HEAD.to_string();
    for p in 0..2 + rng.below(3) {
        let n = 1 + rng.below(4);
        out.push_str(&format!("active proctype P{p}() {{\n  bit x;\n"));
        for at in 0..n {
            let statement = |rng: &mut Rng| match rng.below(10) {
                0..=3 => rng.of(&LOCAL),
                4 | 5 => rng.of(&SENDS),
                6 | 7 => rng.of(&TAKES),
                _ => rng.of(&SHARED),
            };
            let to = |rng: &mut Rng| if rng.below(12) == 0 { "E".to_string() } else { format!("L{}", rng.below(n)) };
            match rng.below(8) {
                0 | 1 => {
                    let main = if rng.below(2) == 0 { "assert(false)" } else { statement(rng) };
                    let escape = if rng.below(4) == 0 { statement(rng) } else { rng.of(&SENDS) };
                    let (a, b) = (to(rng), to(rng));
                    out.push_str(&format!("L{at}: {{ {main}; goto {a} }} unless {{ {escape}; goto {b} }};\n"));
                }
                more => {
                    out.push_str(&format!("L{at}: if"));
                    for _ in 0..if more < 6 { 1 } else { 2 } {
                        let statement = statement(rng);
                        out.push_str(&format!(" :: {statement}; goto {}", to(rng)));
                    }
                    if rng.below(6) == 0 {
                        out.push_str(&format!(" :: else -> goto {}", to(rng)));
                    }
                    out.push_str(" fi;\n");
                }
            }
        }
        out.push_str("E: skip\n}\n");
    }
    out
}

/// Systems with more states are not asked.
const MOST_STATES: u64 = 60;

/// What was asked, and how it came out.
pub struct Tally {
    claims: Vec<Claim>,
    n_large: u64,
    asked: BTreeMap<String, u64>,
}

impl Tally {
    pub fn new() -> Tally {
        let formulas = FORMULAS.iter().enumerate().map(|(n, f)| format!("ltl f{n} {{ {f} }}\n"));
        let text = format!("{HEAD}active proctype P() {{ skip }}\n{}", formulas.collect::<String>());
        let loaded = load("formulas", &text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
        let model = loaded.model.expect("formulas");
        let against = |f: &spinor_lang::NamedFormula| {
            let claim = Claim::against(&f.formula, &f.props, Marking::States).expect("a small automaton");
            claim.in_stutter_form().expect("no `X`")
        };
        Tally { claims: model.formulas.iter().map(against).collect(), n_large: 0, asked: BTreeMap::new() }
    }

    /// The system of a seed, and a question; nothing if it is too large.
    pub fn system(&mut self, seed: u64) -> Option<(String, Arc<System>, Question)> {
        let mut rng = Rng(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let text = text(&mut rng);
        let loaded = load("a system", &text, &Options::default(), &|_| Err(std::io::ErrorKind::NotFound.into()));
        let Some(model) = loaded.model else { panic!("seed {seed}: {:?}\n{text}", loaded.diagnostics) };
        let (question, word) = match rng.below(8) {
            0 | 1 => (Question::Finite(Kind::Assertion), "assert".to_string()),
            2 => (Question::Finite(Kind::EndState), "deadlock".to_string()),
            more => {
                let n = rng.below(FORMULAS.len() as u64) as usize;
                let fairness = match more {
                    3 => Fairness::None,
                    4 => Fairness::Strong,
                    _ => Fairness::Weak,
                };
                let question = Question::Endless(Box::new(self.claims[n].clone()), fairness);
                (question, format!("{} {}", FORMULAS[n], fairness.word()))
            }
        };
        let everything = Claim::accept_labels();
        let interp = Interp::looking(model.system.clone(), &everything.looked);
        if oracle::size(&Product::new(&interp, &everything, Fairness::None)).0 > MOST_STATES {
            self.n_large += 1;
            return None;
        }
        *self.asked.entry(word).or_default() += 1;
        Some((text, model.system.clone(), question))
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} systems, {} passed over as too large", self.asked.values().sum::<u64>(), self.n_large)?;
        self.asked.iter().try_for_each(|(what, n)| writeln!(f, "{n:>8} {what}"))
    }
}

/// Panics unless a lasso, in the numbers of all moves, is a run that is accepted and fair.
pub fn replay(system: &Arc<System>, claim: &Claim, fairness: Fairness, lasso: &Lasso) {
    let interp = Interp::looking(system.clone(), &claim.looked);
    let product = Product::new(&interp, claim, Fairness::Weak);
    let (mut desk, mut moves) = (product.desk(), Moves::default());
    product.initial(&mut desk, &mut moves);
    let mut key = moves.key(lasso.initial).to_vec();
    let mut step = |key: &mut Vec<u8>, nth: u32| {
        moves.clear();
        product.moves(&mut desk, key, &mut moves);
        *key = moves.key(nth as usize).to_vec();
        let m = &moves.all[nth as usize];
        (m.marks, m.pid, moves.able, moves.ends == Some(nth))
    };
    let mut ended = false;
    lasso.stem.iter().for_each(|nth| ended = step(&mut key, *nth).3);
    if lasso.cycle.is_empty() {
        return assert!(ended, "a run without a cycle ends the matter");
    }
    let start = key.clone();
    let mut sum: Option<Summary> = None;
    for nth in &lasso.cycle {
        let (marks, pid, able, _) = step(&mut key, *nth);
        let here = Summary::of_state(able);
        let all = sum.get_or_insert(here);
        all.add(&here);
        all.add_move(marks, pid);
    }
    assert_eq!(key, start, "a cycle comes back");
    assert!(sum.is_some_and(|sum| sum.is_accepted(product.n_marks(), fairness)), "accepted and fair");
}
