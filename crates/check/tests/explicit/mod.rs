//! Graphs that were written down state by state, and formulas on their runs: the boring way.

use spinor_lang::{Options, load};
use spinor_ltl::{Components, Formula, Limits, PropId, StateId};
use spinor_model::ir::Pid;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;

pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

pub fn formula(rng: &mut Rng, n_props: usize, size: usize, next: bool) -> Formula {
    if size <= 1 {
        return Formula::Prop(PropId(rng.below(n_props) as u32));
    }
    let part = |rng: &mut Rng, size: usize| Box::new(formula(rng, n_props, size, next));
    let left = 1 + rng.below(size - 1);
    match rng.below(if next { 11 } else { 9 }) {
        0 => Formula::Not(part(rng, size - 1)),
        1 | 2 => Formula::Always(part(rng, size - 1)),
        3 | 4 => Formula::Eventually(part(rng, size - 1)),
        5 => Formula::And(part(rng, left), part(rng, size - left)),
        6 => Formula::Or(part(rng, left), part(rng, size - left)),
        7 => Formula::Until(part(rng, left), part(rng, size - left)),
        8 => Formula::Implies(part(rng, left), part(rng, size - left)),
        _ => Formula::Next(part(rng, size - 1)),
    }
}

/// A formula in parentheses, for those who demand them.
pub fn text(f: &Formula, prop: &dyn Fn(usize) -> String) -> String {
    let part = |f: &Formula| text(f, prop);
    let both = |a: &Formula, op: &str, b: &Formula| format!("({} {op} {})", part(a), part(b));
    match f {
        Formula::Prop(p) => prop(p.0 as usize),
        Formula::Not(a) => format!("(!{})", part(a)),
        Formula::Always(a) => format!("([] {})", part(a)),
        Formula::Eventually(a) => format!("(<> {})", part(a)),
        Formula::Next(a) => format!("(X {})", part(a)),
        Formula::And(a, b) => both(a, "&&", b),
        Formula::Or(a, b) => both(a, "||", b),
        Formula::Until(a, b) => both(a, "U", b),
        Formula::Implies(a, b) => both(a, "->", b),
        other => panic!("{other} is not drawn"),
    }
}

pub fn loaded(name: &str, text: &str) -> spinor_lang::Model {
    let loaded = load(name, text, &Options::default(), &|p: &Path| std::fs::read(p));
    loaded.model.unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics))
}

/// `SPINOR_PROTOCOLS=A..B` asks about other seeds than usual.
pub fn seeds(usual: Range<u64>) -> Range<u64> {
    let asked = std::env::var("SPINOR_PROTOCOLS").ok();
    let ends = asked.as_deref().and_then(|text| text.split_once(".."));
    let ends = ends.and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    ends.unwrap_or(usual)
}

/// State 0 is the first one.
#[derive(Debug, Default)]
pub struct Explicit {
    /// Of each state: where it leads, whose step that is, and which propositions are true of the state and that step. One
    /// without steps leads to itself.
    pub edges: Vec<Vec<(usize, Option<Pid>, u64)>>,
    /// Of each state: who can move.
    pub able: Vec<BTreeSet<Pid>>,
    pub processes: BTreeSet<Pid>,
}

impl Explicit {
    /// Some run breaks the formula; with `fair`, one in which everybody who can move from some point on does.
    pub fn breaks(&self, formula: &Formula, fair: bool) -> bool {
        let automaton = spinor_ltl::automaton(&Formula::Not(Box::new(formula.clone())), Limits::default());
        let automaton = automaton.expect("a small automaton");
        let mut names: HashMap<(usize, StateId), usize> = HashMap::new();
        let mut nodes: Vec<(usize, StateId)> = Vec::new();
        let mut arcs: Vec<Vec<(usize, u64, Option<Pid>)>> = Vec::new();
        let mut name = |node, nodes: &mut Vec<_>| {
            *names.entry(node).or_insert_with(|| {
                nodes.push(node);
                nodes.len() - 1
            })
        };
        automaton.initial.iter().for_each(|q| {
            name((0, *q), &mut nodes);
        });
        while arcs.len() < nodes.len() {
            let (state, q) = nodes[arcs.len()];
            let mut here = Vec::new();
            for (to, pid, bits) in &self.edges[state] {
                let columns = automaton.props.iter().enumerate();
                let bits = columns.fold(0u64, |out, (c, p)| out | (bits >> p.0 & 1) << c);
                for t in automaton.enabled(q, &[bits]) {
                    here.push((name((*to, t.target), &mut nodes), t.marks.0, *pid));
                }
            }
            arcs.push(here);
        }
        let components =
            Components::new(nodes.len(), 0..nodes.len(), |at: usize, nth: usize| arcs[at].get(nth).map(|a| a.0));
        let mut all: Vec<Vec<usize>> = vec![Vec::new(); components.n];
        (0..nodes.len()).for_each(|at| all[components.of[at] as usize].push(at));
        all.iter().enumerate().any(|(c, members)| {
            let inside = |at: &usize| components.of[*at] as usize == c;
            let moves: Vec<_> = members.iter().flat_map(|at| &arcs[*at]).filter(|a| inside(&a.0)).collect();
            let marks = moves.iter().fold(0, |all, a| all | a.1);
            let served = |pid: &Pid| {
                moves.iter().any(|a| a.2 == Some(*pid))
                    || members.iter().any(|at| !self.able[nodes[*at].0].contains(pid))
            };
            !moves.is_empty() && marks == automaton.all_marks().0 && (!fair || self.processes.iter().all(served))
        })
    }
}
