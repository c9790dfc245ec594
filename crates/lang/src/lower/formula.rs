//! `ltl` blocks: a formula over propositions, each a boolean expression of the model.

use super::{Lower, NamedFormula};
use crate::ast::{self, BinOp, ExprKind, Temporal, UnOp};
use spinor_ltl::{Formula, PropId};
use spinor_model::ir::Expr;

impl Lower {
    pub fn formula(&mut self, l: &ast::Ltl, n: usize) -> NamedFormula {
        self.in_claim = true;
        let mut props = Vec::new();
        let formula = self.temporal(&l.formula, &mut props);
        self.in_claim = false;
        let name = l.name.as_ref().map_or_else(|| format!("ltl_{n}"), |n| n.name.to_string());
        NamedFormula { name, formula, props, text: self.sources.one_line(l.formula.span), span: l.span }
    }

    fn temporal(&mut self, e: &ast::Expr, props: &mut Vec<Expr>) -> Formula {
        if !has_temporal(e) {
            return self.proposition(e, props);
        }
        match &e.kind {
            ExprKind::Paren(a) => self.temporal(a, props),
            ExprKind::Unary(UnOp::Not, a) => Formula::Not(Box::new(self.temporal(a, props))),
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), a, b) => {
                let (a, b) = (Box::new(self.temporal(a, props)), Box::new(self.temporal(b, props)));
                if *op == BinOp::And { Formula::And(a, b) } else { Formula::Or(a, b) }
            }
            ExprKind::Temporal(op, args) => {
                let mut parts = args.iter().map(|a| Box::new(self.temporal(a, props))).collect::<Vec<_>>().into_iter();
                let mut next = || parts.next().unwrap_or(Box::new(Formula::True));
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
            // A temporal operator under arithmetic: the expression lowering says what is wrong.
            _ => self.proposition(e, props),
        }
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

fn has_temporal(e: &ast::Expr) -> bool {
    match &e.kind {
        ExprKind::Temporal(..) => true,
        ExprKind::Paren(a) | ExprKind::Unary(_, a) => has_temporal(a),
        ExprKind::Binary(_, a, b) => has_temporal(a) || has_temporal(b),
        ExprKind::Cond(a, b, c) => has_temporal(a) || has_temporal(b) || has_temporal(c),
        _ => false,
    }
}
