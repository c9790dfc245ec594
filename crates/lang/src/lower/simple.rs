//! Statements without inner statements: what each asks and does.

use super::elements::{Builder, Trivial};
use super::expr::without_binding;
use super::names::Meaning;
use crate::ast::{self, ExprKind, StmtKind, VarRef};
use spinor_model::diagnostic::Diagnostic;
use spinor_model::ir::{BinOp, Effect, Expr, Guard, MtypeId};
use spinor_model::source::Span;

impl Builder<'_> {
    /// What a statement without inner statements asks and does.
    pub fn simple(&mut self, kind: &StmtKind, span: Span) -> (Vec<Guard>, Vec<Effect>, Trivial) {
        let l = &mut *self.lower;
        let mut trivial = Trivial::No;
        let mut guards = vec![];
        let mut effects = vec![];
        match kind {
            StmtKind::Expr(e) => {
                let (runs, value) = l.expr_with_run(e);
                if runs.is_empty() {
                    trivial = match value {
                        Expr::Const(1) if is_literal(e) => Trivial::True,
                        Expr::Const(0) if is_literal(e) => Trivial::False,
                        _ => Trivial::No,
                    };
                    if trivial != Trivial::True {
                        guards.push(Guard::Holds(value));
                    }
                } else if value == Expr::NewPid {
                    effects = runs;
                } else {
                    l.report(
                        Diagnostic::error("P0311", "`run` inside a larger condition")
                            .at(span, "a condition only asks")
                            .help("give the `run` a statement of its own"),
                    );
                }
                self.no_run_in_d_step(&effects, span);
            }
            StmtKind::Else => trivial = Trivial::Else,
            StmtKind::Assign { to, value } => {
                if let (Some(a), Some(b)) = (l.mtype_set_of(to), l.mtype_set(value))
                    && a != b
                {
                    let (a, b) = (l.mtype_name(a), l.mtype_name(b));
                    l.report(
                        Diagnostic::warning("P0317", format!("a value of mtype set {b} goes into one of {a}"))
                            .at(span, "only its number is kept"),
                    );
                }
                let (runs, value) = l.expr_with_run(value);
                effects = runs;
                self.no_run_in_d_step(&effects, span);
                if let Some(effect) = self.assign(to, value) {
                    effects.push(effect);
                }
            }
            StmtKind::Step { to, up } => {
                let one = Box::new(Expr::Const(1));
                let op = if *up { BinOp::Add } else { BinOp::Sub };
                if is_priority(to) {
                    let old = Box::new(Expr::GetPriority(Box::new(Expr::Pid)));
                    effects.extend(self.assign(to, Expr::Binary(op, old, one)));
                } else if let Some(place) = l.place(to) {
                    let value = Expr::Binary(op, Box::new(Expr::Read(place.clone())), one);
                    effects.push(Effect::Assign { to: place, value });
                }
            }
            // In a trace assertion nothing is sent or received: these are the events it allows.
            StmtKind::Send { chan, args, .. } if l.in_trace => {
                let args = l.event_fields(args);
                l.check_arity(chan, args.len(), span, true);
                effects.push(Effect::Event { send: true, chan: l.chan(chan), args });
            }
            StmtKind::Receive { chan, args, .. } if l.in_trace => {
                let args = without_binding(l.patterns(chan, args, span, false));
                effects.push(Effect::Event { send: false, chan: l.chan(chan), args });
            }
            StmtKind::Send { chan, sorted, args } => {
                let args: Vec<(Expr, Span)> = args.iter().flat_map(|a| l.argument(a)).collect();
                l.check_arity(chan, args.len(), span, true);
                let chan = l.chan(chan);
                guards.push(Guard::Channel);
                effects.push(Effect::Send { chan, sorted: *sorted, args: args.into_iter().map(|(e, _)| e).collect() });
            }
            StmtKind::Receive { chan, random, keep, args } => {
                let args = l.patterns(chan, args, span, false);
                let chan = l.chan(chan);
                guards.push(Guard::Channel);
                effects.push(Effect::Receive { chan, random: *random, keep: *keep, args });
            }
            StmtKind::Assert(e) => effects.push(Effect::Assert(l.expr(e))),
            StmtKind::Printf { format, args, .. } => {
                trivial = Trivial::Print;
                let args = args.iter().map(|e| l.expr(e)).collect();
                effects.push(Effect::Print { format: format.clone(), args });
            }
            StmtKind::Printm(e) => {
                let set = l.mtype_set(e).unwrap_or(MtypeId(0));
                effects.push(Effect::PrintName(l.expr(e), set));
            }
            StmtKind::SetPriority { pid, value } => {
                l.uses.priorities = true;
                l.uses_priority.get_or_insert(span);
                effects.push(Effect::SetPriority { pid: l.expr(pid), value: l.expr(value) });
            }
            other => unreachable!("{other:?} has inner statements"),
        }
        (guards, effects, trivial)
    }

    fn no_run_in_d_step(&mut self, effects: &[Effect], span: Span) {
        if !self.d_steps.is_empty() && effects.iter().any(|e| matches!(e, Effect::Run { .. })) {
            self.lower.report(
                Diagnostic::error("P0312", "`run` inside a d_step")
                    .at(span, "a d_step cannot start a process")
                    .help("use `atomic`"),
            );
        }
    }

    fn assign(&mut self, to: &VarRef, value: Expr) -> Option<Effect> {
        let l = &mut *self.lower;
        let simple = to.parts.len() == 1 && to.parts[0].index.is_none();
        let name = &*to.parts[0].name.name;
        if is_priority(to) {
            l.uses.priorities = true;
            l.uses_priority.get_or_insert(to.span);
            return Some(Effect::SetPriority { pid: Expr::Pid, value });
        }
        if simple && name == "_" {
            return None;
        }
        if simple && (matches!(name, "_pid" | "_nr_pr" | "_last") || matches!(l.lookup(name), Some(Meaning::Mtype(..))))
        {
            l.report(
                Diagnostic::error("P0313", format!("`{name}` cannot be assigned")).at(to.span, "it is not a variable"),
            );
            return None;
        }
        l.place(to).map(|place| Effect::Assign { to: place, value })
    }
}

fn is_priority(v: &VarRef) -> bool {
    v.parts.len() == 1 && &*v.parts[0].name.name == "_priority"
}

/// The constant itself, not an expression that happens to have its value.
fn is_literal(e: &ast::Expr) -> bool {
    match &e.kind {
        ExprKind::Num(_) => true,
        ExprKind::Paren(e) => is_literal(e),
        _ => false,
    }
}
