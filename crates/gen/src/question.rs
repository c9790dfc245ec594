//! What may be asked about a random model: conditions about its states, and formulas over them.

use spinor_ltl::{Formula, PropId};
use spinor_model::ir::{BinOp, Expr, Place, Probe, Scope, Shape, System, Type, Var, VarId};
use std::ops::Range;

/// The numbers that a test draws for itself. Like those of the models, the same for ever.
pub struct Draws(pub u64);

impl Draws {
    /// A number in `0..n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// The seeds that `SPINOR_SEEDS` of the environment names, as `A..B`, or the usual ones. Every test on random things asks
/// here, so that `xtask campaigns` can run it with more of them.
pub fn seeds(usual: Range<u64>) -> Range<u64> {
    let given = std::env::var("SPINOR_SEEDS").ok();
    let ends = given.as_deref().and_then(|text| text.split_once(".."));
    let ends = ends.and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    ends.unwrap_or(usual)
}

/// A formula of so many operators and propositions.
pub fn formula(draws: &mut Draws, n_props: usize, size: usize, next: bool) -> Formula {
    if size <= 1 {
        return Formula::Prop(PropId(draws.below(n_props) as u32));
    }
    let part = |draws: &mut Draws, size: usize| Box::new(formula(draws, n_props, size, next));
    let left = 1 + draws.below(size - 1);
    match draws.below(if next { 11 } else { 9 }) {
        0 => Formula::Not(part(draws, size - 1)),
        1 | 2 => Formula::Always(part(draws, size - 1)),
        3 | 4 => Formula::Eventually(part(draws, size - 1)),
        5 => Formula::And(part(draws, left), part(draws, size - left)),
        6 => Formula::Or(part(draws, left), part(draws, size - left)),
        7 => Formula::Until(part(draws, left), part(draws, size - left)),
        8 => Formula::Implies(part(draws, left), part(draws, size - left)),
        _ => Formula::Next(part(draws, size - 1)),
    }
}

/// What somebody outside could ask about: how many processes there are, globals, channels, labels, locals of processes.
pub fn conditions(system: &System, draws: &mut Draws) -> Vec<Expr> {
    let equals = |e: Expr, n: usize| Expr::Binary(BinOp::Eq, Box::new(e), Box::new(Expr::Const(n as i32)));
    let place = |scope, id: VarId, var: &Var, ty| Place { scope, var: id, slot: var.slot, ty, index: Vec::new() };
    let mut all = vec![equals(Expr::NrPr, 1 + draws.below(3))];
    for (id, var) in system.globals.vars.enumerated().filter(|(_, v)| !v.hidden) {
        if let Shape::Scalar(ty) = var.shape {
            let read = Expr::Read(place(Scope::Global, id, var, ty));
            let read = if ty == Type::Chan { Expr::Probe(Probe::Len, Box::new(read)) } else { read };
            all.push(equals(read, draws.below(2)));
        }
    }
    for (proctype, t) in system.proctypes.enumerated() {
        for (loc, l) in t.locs.enumerated() {
            let at = |label: &String| Expr::AtLabel { proctype, pid: None, loc, label: label.clone() };
            all.extend(l.labels.iter().take(1).map(at));
        }
        for (id, var) in t.frame.vars.enumerated().filter(|(_, v)| !v.hidden) {
            if let Shape::Scalar(ty) = var.shape {
                let place = place(Scope::Local, id, var, ty);
                all.push(equals(Expr::Remote { proctype, pid: None, place }, draws.below(2)));
            }
        }
    }
    all
}
