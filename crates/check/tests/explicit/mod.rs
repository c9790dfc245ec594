//! Graphs that were written down state by state, and formulas on their runs: the boring way.

use spinor_lang::{Options, load};
use spinor_ltl::{Components, Formula, Limits, StateId};
use spinor_model::ir::Pid;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

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
