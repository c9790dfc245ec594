//! `ltl` blocks: a formula over propositions, each a boolean expression of the model.

use super::{Lower, NamedFormula};
use crate::ast::{self, BinOp, ExprKind, Temporal, UnOp};
use spinor_ltl::{Formula, PropId};
use spinor_model::ir::Expr;

impl Lower {
    pub fn formula(&mut self, l: &ast::Ltl, n: usize) -> NamedFormula {
        self.in_claim = true;
        let (mut props, mut says) = (Vec::new(), Vec::new());
        let formula = temporal(&l.formula, true, &mut |e| {
            let proposition = self.proposition(e, &mut props);
            says.resize_with(props.len(), || self.sources.one_line(e.span));
            proposition
        });
        self.in_claim = false;
        let name = l.name.as_ref().map_or_else(|| format!("ltl_{n}"), |n| n.name.to_string());
        NamedFormula { name, formula, props, says, text: self.sources.one_line(l.formula.span), span: l.span }
    }

    fn proposition(&mut self, e: &ast::Expr, props: &mut Vec<Expr>) -> Formula {
        match self.expr(e) {
            Expr::Const(0) => Formula::False,
            Expr::Const(_) => Formula::True,
            value => {
                let id = props.iter().position(|p| *p == value).unwrap_or_else(|| {
                    props.push(value);
                    props.len() - 1
                });
                Formula::Prop(PropId(id as u32))
            }
        }
    }
}

/// The formula above its propositions, which `atom` gives. Whatever has no temporal operator is one proposition if they
/// are to be `whole`, and else what is below the boolean operators; what is about states is told apart from what happens. A negation is always above: `p` and `!p` are about
/// the same proposition.
pub(crate) fn temporal(e: &ast::Expr, whole: bool, atom: &mut dyn FnMut(&ast::Expr) -> Formula) -> Formula {
    let negated = matches!(e.kind, ExprKind::Paren(_) | ExprKind::Unary(UnOp::Not, _));
    if whole && !negated && !has_temporal(e) && !has_operation(e) {
        return atom(e);
    }
    let mut part = |e: &ast::Expr| Box::new(temporal(e, whole, atom));
    match &e.kind {
        ExprKind::Paren(a) => *part(a),
        ExprKind::Unary(UnOp::Not, a) => Formula::Not(part(a)),
        ExprKind::Binary(BinOp::And, a, b) => Formula::And(part(a), part(b)),
        ExprKind::Binary(BinOp::Or, a, b) => Formula::Or(part(a), part(b)),
        ExprKind::Temporal(op, args) => {
            let mut parts = args.iter();
            let mut next = || parts.next().map_or(Box::new(Formula::True), &mut part);
            match op {
                Temporal::Always => Formula::Always(next()),
                Temporal::Eventually => Formula::Eventually(next()),
                Temporal::Next => Formula::Next(next()),
                Temporal::Until => Formula::Until(next(), next()),
                Temporal::WeakUntil => Formula::WeakUntil(next(), next()),
                Temporal::Release => Formula::Release(next(), next()),
                Temporal::Implies => Formula::Implies(next(), next()),
                Temporal::Equivalent => Formula::Equivalent(next(), next()),
            }
        }
        // A temporal operator under arithmetic: whoever reads the proposition says what is wrong.
        _ => atom(e),
    }
}

fn has_operation(e: &ast::Expr) -> bool {
    match &e.kind {
        ExprKind::Happens(_) => true,
        ExprKind::Paren(a) | ExprKind::Unary(_, a) => has_operation(a),
        ExprKind::Binary(_, a, b) => has_operation(a) || has_operation(b),
        ExprKind::Cond(a, b, c) => has_operation(a) || has_operation(b) || has_operation(c),
        _ => false,
    }
}

fn has_temporal(e: &ast::Expr) -> bool {
    match &e.kind {
        ExprKind::Temporal(..) => true,
        ExprKind::Paren(a) | ExprKind::Unary(_, a) => has_temporal(a),
        ExprKind::Binary(_, a, b) => has_temporal(a) || has_temporal(b),
        ExprKind::Cond(a, b, c) => has_temporal(a) || has_temporal(b) || has_temporal(c),
        _ => false,
    }
}
